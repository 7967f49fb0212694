import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import {
  HttpFailure,
  type AnswerFlow,
  type AnswerHeaders,
  type AnswerSink,
  type ForwardRequest,
} from '../../ports/http-client.ts';
import { codingsOf, decoder } from './decode.ts';

/** Ends an exchange whose body nobody wants; no failure. */
const unwanted = new Error('the body of the answer is not wanted');
/** An answer that unpacks to more than that many times its size, and is not small, is an attack. */
const expansionMax = 200;
const smallBytes = 64 * 1024 ** 2;

/** One exchange over the dispatcher itself: no stream objects stand between the two sockets. */
export function forwardOver(
  agent: Agent,
  request: ForwardRequest,
  open: (flow: AnswerFlow) => AnswerSink,
): Promise<void> {
  const { signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    let exchange: Dispatcher.DispatchController | null = null;
    let decoding: Decoding | null = null;
    const sink = open({
      resume: () => (decoding === null ? exchange?.resume() : decoding.resume()),
    });
    const cancel = () => exchange?.abort(signal.reason as Error);
    const settle = (error: Error | null) => {
      signal.removeEventListener('abort', cancel);
      if (error === null || error === unwanted) resolve();
      else reject(error);
    };
    const fail = (error: Error) => {
      exchange?.abort(error);
      settle(error);
    };
    signal.addEventListener('abort', cancel, { once: true });
    agent.dispatch(optionsOf(request), {
      onRequestStart(controller) {
        exchange = controller;
        if (signal.aborted) cancel();
      },
      onResponseStart(controller, status, headers, statusText = '') {
        if (status < 200) return;
        const undo = request.isDecoded ? (codingsOf(codingHeader(headers)) ?? []) : [];
        const shown = undo.length === 0 ? headers : withoutCoding(headers);
        if (!sink.head(status, statusText, shown)) {
          controller.abort(unwanted);
        } else if (undo.length > 0) {
          decoding = startDecoding(undo, { sink, controller, end: () => settle(null), fail });
        }
      },
      onResponseData(controller, chunk) {
        const isReady = decoding === null ? sink.data(chunk) : decoding.write(chunk);
        if (!isReady) controller.pause();
      },
      onResponseEnd: () => (decoding === null ? settle(null) : decoding.end()),
      onResponseError: (_controller, error) => settle(error),
    });
  });
}

const optionsOf = (request: ForwardRequest): Dispatcher.DispatchOptions => ({
  origin: request.url.origin,
  path: `${request.url.pathname}${request.url.search}`,
  method: request.method,
  headers: { ...request.headers },
  // It takes any async iterable; its types name streams alone.
  body: request.body as Readable | Uint8Array | null,
  headersTimeout: request.idleTimeoutMs,
  bodyTimeout: request.idleTimeoutMs,
});

function codingHeader(headers: AnswerHeaders): string | undefined {
  const value = headers['content-encoding'];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

function withoutCoding(headers: AnswerHeaders): AnswerHeaders {
  const { 'content-encoding': _coding, 'content-length': _length, ...rest } = headers;
  return rest;
}

interface Decoding {
  /** False when nothing more may be written for now. */
  write(chunk: Buffer): boolean;
  end(): void;
  resume(): void;
}

function startDecoding(
  codings: readonly string[],
  to: {
    readonly sink: AnswerSink;
    readonly controller: Dispatcher.DispatchController;
    readonly end: () => void;
    readonly fail: (error: Error) => void;
  },
): Decoding {
  const chain = codings.map((coding) => decoder(coding));
  const first = chain[0] as NodeJS.ReadWriteStream;
  const last = chain.reduce((before, next) => before.pipe(next));
  let bytesIn = 0;
  let bytesOut = 0;
  for (const part of chain) {
    part.on('error', (cause) => {
      const message = 'The answer is not what its Content-Encoding says.';
      to.fail(new HttpFailure('ERR_BODY_CODING', message, { cause }));
    });
  }
  first.on('drain', () => to.controller.resume());
  last.on('data', (chunk: Buffer) => {
    bytesOut += chunk.length;
    if (bytesOut > smallBytes && bytesOut > expansionMax * bytesIn) {
      to.fail(new HttpFailure('ERR_BODY_TOO_LARGE', 'The answer unpacks to far too much.'));
    } else if (!to.sink.data(chunk)) last.pause();
  });
  last.on('end', to.end);
  return {
    write(chunk) {
      bytesIn += chunk.length;
      return first.write(chunk);
    },
    end: () => void first.end(),
    resume: () => void last.resume(),
  };
}
