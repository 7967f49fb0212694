import { openEmbeddedLogClient } from '../../src/adapters/event-log/embedded/client.ts';
import { openEmbeddedLog } from '../../src/adapters/event-log/embedded/open.ts';
import { temporaryFolder } from '../support/embedded-log.ts';
import { schemasContract } from './schemas.contract.ts';

schemasContract('embedded', {
  async begin() {
    await using stack = new AsyncDisposableStack();
    const { path: directory } = stack.use(await temporaryFolder());
    const embedded = stack.use(await openEmbeddedLog({ directory }));
    const opened = stack.move();
    return {
      open: async (schemasFolder) => {
        const port = embedded.connectPort();
        return opened.use(openEmbeddedLogClient({ directory, port, schemasFolder })).schemas;
      },
      // The file of the log has them all.
      arrive: async () => undefined,
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  },
});
