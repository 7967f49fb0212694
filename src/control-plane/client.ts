import { randomUUID } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openCommands, openCommandSender } from './command-sender.ts';
import type { ExecuteOptions, CommandRequest, ControlPlane } from './control-plane.ts';
import type { ControlCommand } from './entity.ts';
import { within, type InProcessOwners } from './in-process-owners.ts';
import type { Ports } from './ports.ts';
import type { Replies, Reply } from './replies.ts';
import { currentTrace } from './trace.ts';
import type { OpenControlView } from './view.ts';

const defaultTimeoutMs = 15_000;
/** How much longer than the command's deadline its reply may take. */
const replyMarginMs = 1_000;

type Options = Partial<ExecuteOptions> & { readonly actor: string };

/**
 * The command client of one node: sends commands to the owners and returns once the node's view has applied their
 * decision.
 */
export async function createControlPlane(
  deps: Pick<Ports, 'log' | 'schemas' | 'clock'> & {
    readonly view: OpenControlView;
    readonly replies: Replies;
    /** Null where the process owns nothing. */
    readonly owners: InProcessOwners | null;
  },
): Promise<ControlPlane> {
  const { log, schemas, clock, view, replies, owners } = deps;
  const append = await openCommands({ log, schemas });
  const publish = await openCommandSender({ log, schemas, clock });

  const decideHere = async (command: ControlCommand, timeoutMs: number) =>
    owners === null
      ? null
      : within(owners.decide(command, currentTrace()), timeoutMs + replyMarginMs);

  const decideOverLog = async <T>(
    command: ControlCommand,
    timeoutMs: number,
  ): Promise<Reply<T>> => {
    const expected = replies.expect<T>(command.id, timeoutMs + replyMarginMs);
    await append(command, timeoutMs);
    return expected;
  };

  const decide = async <T>(
    items: readonly CommandRequest[],
    options: Options,
  ): Promise<Reply<T>> => {
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    const command = toCommand(items, options, clock.now(), timeoutMs, replies.node);
    const direct = options.isDirect === true ? await decideHere(command, timeoutMs) : null;
    const reply = (direct as Reply<T> | null) ?? (await decideOverLog<T>(command, timeoutMs));
    if (options.isViewAwaited !== false) {
      await view.applied(reply.partition, reply.offset, timeoutMs);
    }
    return reply;
  };

  return {
    view,
    async execute<S extends object>(...[ref, body, options]: Parameters<ControlPlane['execute']>) {
      const reply = await decide<S>([{ ref, body }], options);
      return reply.body;
    },
    async askAll(commands, options) {
      if (commands.length === 0) return [];
      const [first] = commands;
      if (commands.some(({ ref }) => ref.scope !== first?.ref.scope)) {
        throw new GatewayError('invalid_request', { message: 'The commands have several scopes.' });
      }
      await decide(commands, options);
      return commands.map(({ ref }) => view.find<JsonObject>(ref.kind, ref.path));
    },
    enqueue: publish,
  };
}

function toCommand(
  items: readonly CommandRequest[],
  options: Options,
  now: number,
  timeoutMs: number,
  replyTo: string,
): ControlCommand {
  return {
    id: randomUUID(),
    items,
    actor: options.actor,
    at: now,
    deadline: now + timeoutMs,
    replyTo,
    idempotencyKey: options.idempotencyKey ?? null,
    requestHash: options.requestHash ?? null,
  };
}
