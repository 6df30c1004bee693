export type {
  CallValue,
  RefCall,
  RenderContext,
  RenderedPipeline,
  SegmentMap,
  SinkCall,
  SourceCall,
  WatermarkCall,
} from "./rendered.ts";
export { renderPipeline } from "./render.ts";
