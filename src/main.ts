import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The program of the gateway. Node keeps the compiled code of its modules beside them, if it may write there: the next
 * start compiles nothing. Threads read the variable.
 */
const { directory } = enableCompileCache(fileURLToPath(import.meta.resolve('#built/compiled')));
// oxlint-disable-next-line no-restricted-properties -- a setting of Node, for the threads
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;
await import('./serve.ts');
