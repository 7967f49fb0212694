import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import { openRequestPipeline } from './request-pipeline.ts';
import type { Services } from './services.ts';

export interface ApiServerOptions extends Omit<HttpServerOptions, 'pipeline' | 'services'> {
  readonly services: Services;
}

/** The HTTP server behind the request pipeline. Listens when it resolves. */
export async function startApiServer(options: ApiServerOptions): Promise<HttpServer> {
  await using stack = new AsyncDisposableStack();
  const pipeline = stack.use(await openRequestPipeline(options.services));
  const server = stack.use(await createHttpServer({ ...options, pipeline }));
  const opened = stack.move();
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
