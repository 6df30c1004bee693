/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import process from "node:process";
import { FRAME, type Frame, FrameError } from "../protocol/frame.ts";
import { encodeMessage, errorToWire } from "../protocol/messages.ts";
import { closeInput, divertConsole, divertOutput } from "../sdk/console.ts";
import type { ConnectorModule } from "../sdk/connector.ts";
import { toConnectorError } from "../sdk/failure.ts";
import { ConnectorServer } from "../sdk/serve.ts";
import { loadEmbedded } from "./embedded.ts";
import { loadForeign } from "./foreign.ts";
import { harden } from "./harden.ts";
import type { FromWorker, ToWorker } from "./worker_message.ts";

const exit = Deno.exit;
harden((code) => {
  post({ fatal: `the connector ended itself with exit code ${code}` });
  return exit();
});
divertConsole(console, (level, message) => post({ bytes: encodeMessage(0, { m: "LogEvent", level, message }) }));
divertOutput(Deno.stdout, (message) => post({ bytes: encodeMessage(0, { m: "LogEvent", level: "info", message }) }));
closeInput(Deno.stdin, process);
listen();

/** What takes the host's frames. */
type Receiver = Pick<ConnectorServer, "receive" | "end">;

function listen(): void {
  let server: Promise<Receiver> | undefined;
  self.onmessage = async (event: MessageEvent<ToWorker>) => {
    const message = event.data;
    try {
      if ("ping" in message) {
        post({ pong: true });
      } else if ("connector" in message) {
        server = startServer(loadInside(message.connector));
        await server;
        post({ ready: true });
      } else if ("waitForCode" in message) {
        post({ ready: true });
      } else if ("code" in message) {
        server = startServer(loadForeign(message.code)).catch(refusing);
      } else if ("frame" in message) {
        (await server)?.receive(message.frame);
      } else {
        await (await server)?.end();
        post({ farewell: true });
      }
    } catch (error) {
      post({ fatal: error instanceof FrameError ? error.message : String(error) });
    }
  };
}

async function loadInside(name: string): Promise<ConnectorModule> {
  const module = await loadEmbedded(name);
  if (module === undefined) throw new Error(`there is no connector "${name}" inside`);
  return module;
}

async function startServer(module: Promise<ConnectorModule>): Promise<ConnectorServer> {
  return new ConnectorServer(await module, (bytes) => post({ bytes }));
}

/** Answers every request with the reason why there is no connector. */
function refusing(reason: unknown): Receiver {
  const error = errorToWire(toConnectorError(reason));
  return {
    receive: ({ kind, stream }: Frame) => {
      if (kind === FRAME.control) post({ bytes: encodeMessage(stream, { m: "Failed", error }) });
    },
    end: () => Promise.resolve(),
  };
}

function post(message: FromWorker): void {
  self.postMessage(message, "bytes" in message ? [message.bytes.buffer] : []);
}
