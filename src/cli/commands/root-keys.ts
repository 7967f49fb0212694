import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RootKeys } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { accountHelp, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';

const options = {
  detach: ['--detach', 'rewrap: do not wait'],
  json: ['--json', 'the answer as JSON on stdout'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

const askEveryMs = 500;

export const rootKeys = defineCommand({
  name: 'root-keys',
  usage: '',
  summary: 'Show which root key wraps which data keys, and rewrap all with the first one',
  about: `To change the root key: give every process the new key after the old one in SVC_ENCRYPTION_KEY, then before it,
then rewrap; when "show" lists the old one as removable, remove it.`,
  words: {
    show: 'each root key by its id: data keys that it wraps, whether it can be removed',
    rewrap: 'have the first root key wrap every data key; reads and writes go on',
  },
  defaultWord: 'show',
  options,
  help: `${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   130 interrupted: the operation continues

Examples
  svc root-keys show
  svc root-keys rewrap`,

  async run({ word, values }, context) {
    await withAccount(context, async (client) => {
      const shown =
        word === 'show' ? await read(client) : await rewrapAndFollow(context, client, values);
      await say(context, shown, values);
    });
  },
});

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
      output.note(`Rewrapped ${counted(total, 'data key')}`);
      return shown;
    }
    output.status(`wrapped ${done} of ${total} data keys`);
    await sleep(askEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (!stopping.signal.aborted) continue;
    const message = 'It continues in the background. To see its progress: svc root-keys show';
    throw new CommandFailure(message, { exitCode: exitCodes.interrupted });
  }
}

async function say(context: Context, shown: RootKeys, { json }: Values): Promise<void> {
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
  await showRows(context, false, shown.root_keys, heads, cells, 3);
  const { rewrap } = shown;
  if (rewrap?.state === 'running') {
    output.note(`Rewrapping: ${rewrap.done} of ${counted(rewrap.total, 'data key')}`);
  }
}
