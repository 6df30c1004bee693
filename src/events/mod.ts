export * from "./run_event.ts";
export { EventBus, type Subscriber } from "./bus.ts";
