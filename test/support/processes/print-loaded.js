// Loaded before everything else of each thread: prints the modules of OpenTelemetry that the thread loads. Not its API,
// which prom-client loads in any case and which does nothing by itself.
import { registerHooks } from 'node:module';
import { threadName } from 'node:worker_threads';

registerHooks({
  load(url, context, next) {
    if (/\/@opentelemetry\/(?!api\/)/.test(url))
      console.error(`loaded in ${threadName || 'main'}: ${url}`);
    return next(url, context);
  },
});
