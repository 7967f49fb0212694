import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RootKeys } from '../../client/index.ts';
import { accountHelp, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { stopOnInterrupt, type Command, type Context } from '../context.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';
import { parseCommand } from '../options.ts';

const options = { detach: { type: 'boolean' }, json: { type: 'boolean' } } as const;
type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

const askEveryMs = 500;

export const rootKeys: Command = {
  name: 'root-keys',
  usage: '<show|rewrap>',
  summary: 'Show which root key wraps which data keys, and rewrap all with the first one',
  help: `To change the root key: give every process the new key after the old one in SVC_ENCRYPTION_KEY, then before it,
then rewrap; when "show" lists the old one as removable, remove it.

Words
  show                    each root key by its id: data keys that it wraps, whether it can be removed
  rewrap                  have the first root key wrap every data key; reads and writes go on

Options
      --detach            rewrap: do not wait
      --json              the answer as JSON on stdout

${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   130 interrupted: the operation continues

Examples
  svc root-keys show
  svc root-keys rewrap`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'show', ...rest] = positionals;
    if (rest.length > 0 || (word !== 'show' && word !== 'rewrap')) {
      throw usageError('Use: svc root-keys show, or svc root-keys rewrap');
    }
    await withAccount(context, async (client) => {
      const shown =
        word === 'show' ? await read(client) : await rewrapAndFollow(context, client, values);
      say(context, shown, values);
    });
  },
};

const read = async (client: Client): Promise<RootKeys> =>
  (await client.request('GET /root-keys')).data;

async function rewrapAndFollow(
  context: Context,
  client: Client,
  { detach }: Values,
): Promise<RootKeys> {
  const { output } = context;
  const { data: begun } = await client.request('POST /root-keys/rewrap');
  if (detach === true) return begun;
  using stopping = stopOnInterrupt(context);
  for (;;) {
    const shown = await read(client);
    if (shown.rewrap?.id !== begun.rewrap?.id)
      throw new CommandFailure('Another rewrap replaced this one.');
    const { state, done, total } = shown.rewrap ?? { state: 'ended', done: 0, total: 0 };
    if (state === 'ended') {
      output.note(`${total} data keys were rewrapped.`);
      return shown;
    }
    output.status(`wrapped ${done} of ${total} data keys`);
    await sleep(askEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (!stopping.signal.aborted) continue;
    const message = 'It continues in the background. To see its progress: svc root-keys show';
    throw new CommandFailure(message, { exitCode: exitCodes.interrupted });
  }
}

function say(context: Context, shown: RootKeys, { json }: Values): void {
  const { output } = context;
  if (json === true) {
    output.result(JSON.stringify(shown));
    return;
  }
  const cells = ({ id, known, data_keys, removable }: RootKeys['root_keys'][number]) => {
    const role = id === shown.sealing ? 'wraps new keys' : known ? 'opens' : 'missing here';
    return [id, role, removable ? 'yes' : 'no', data_keys];
  };
  const heads = ['root key', 'role', 'removable', 'data keys'];
  showRows(context, false, shown.root_keys, heads, cells, 3);
  const { rewrap } = shown;
  if (rewrap?.state === 'running') {
    output.note(`Rewrapping: ${rewrap.done} of ${rewrap.total} data keys.`);
  }
}
