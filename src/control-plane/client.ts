import { randomUUID } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { openCommands, openCommandSender } from './command-sender.ts';
import type { ExecuteOptions, ControlPlane } from './control-plane.ts';
import { commandTo, type ControlCommand, type CommandRequest } from './entity.ts';
import { within, type InProcessOwners } from './in-process-owners.ts';
import type { LogPorts } from './ports.ts';
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
  deps: LogPorts & {
    readonly clock: Clock;
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
    async execute(ref, body, options) {
      const reply = await decide<object>([commandTo(ref, body)], options);
      return reply.body;
    },
    async askAll(commands, options) {
      const [first] = commands;
      if (commands.some(({ ref }) => ref.scope !== first?.ref.scope)) {
        throw new GatewayError('invalid_request', { message: 'The commands have several scopes.' });
      }
      if (first !== undefined) await decide(commands, options);
      // The array of states has the types of the commands in order, which a mapped array does not.
      return commands.map(({ ref }) => view.find(ref)) as never;
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
