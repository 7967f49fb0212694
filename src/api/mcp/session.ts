import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Caller, RouteAnswer } from '#http/define-route.ts';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import type { Clock, Instant } from '#kernel/time.ts';
import type { Fingerprints } from '#modules/access/vault/vault.ts';
import { rpcRefusal } from './json-rpc.ts';

/** A session of an MCP client. Its id holds it, signed, so that any node can read it. */
export interface AgentSession {
  /** Name and version of the client. */
  readonly agent: string;
  readonly keyId: string;
  readonly startedAt: Instant;
}

const purpose = 'mcp-session';
const agentCharsMax = 100;

export const sessionHeader = 'mcp-session-id';
export const sessionField = z.string().max(1024).optional();

/** The value of `Mcp-Session-Id`. */
function sessionId(vault: Fingerprints, session: AgentSession): string {
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  return `${text}.${vault.fingerprint(purpose, text)}`;
}

/** Null: it was not made here, belongs to another key, or is over. */
function findSession(
  vault: Fingerprints,
  id: string,
  { keyId, now }: { readonly keyId: string; readonly now: Instant },
): AgentSession | null {
  const at = id.indexOf('.');
  const text = id.slice(0, Math.max(at, 0));
  const signature = Buffer.from(id.slice(at + 1));
  const expected = Buffer.from(vault.fingerprint(purpose, text));
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return null;
  const session = JSON.parse(Buffer.from(text, 'base64url').toString()) as AgentSession;
  const isOver = session.startedAt + limits.mcpSessionMs < now;
  return session.keyId !== keyId || isOver ? null : session;
}

/** The client that an `initialize` message names; null for any other message. */
function agentOf(message: Json): string | null {
  if (!isJsonObject(message) || message['method'] !== 'initialize') return null;
  const { name, version } = objectOf(objectOf(message['params'])['clientInfo']);
  if (typeof name !== 'string') return null;
  const full = typeof version === 'string' ? `${name}/${version}` : name;
  return full.replace(/[^\x20-\x7e]/g, '?').slice(0, agentCharsMax);
}

/** The caller, acting through the agent. */
export const actingCaller = (caller: Caller, { agent }: AgentSession): Caller => ({
  ...caller,
  agent,
});

interface SessionInput {
  readonly caller: Caller;
  readonly services: { readonly vault: Fingerprints; readonly clock: Clock };
}

/**
 * The session that the message starts or belongs to; null: it names none.
 * @param message a batch starts none
 * @returns the refusal of a session that is not valid
 */
export function sessionFor(
  message: Json,
  id: string | undefined,
  { caller: { keyId }, services: { vault, clock } }: SessionInput,
): AgentSession | RouteAnswer | null {
  const now = clock.now();
  const agent = agentOf(message);
  if (agent !== null) return { agent, keyId, startedAt: now };
  if (id === undefined) return null;
  const unknown = rpcRefusal(404, -32_001, 'Session not found: send initialize again.');
  return findSession(vault, id, { keyId, now }) ?? unknown;
}

/** The response to the message; one that starts a session has its id. */
export const withSession = (
  answer: RouteAnswer,
  message: Json,
  { session, vault }: { readonly session: AgentSession; readonly vault: Fingerprints },
): RouteAnswer =>
  agentOf(message) === null
    ? answer
    : { ...answer, headers: { ...answer.headers, [sessionHeader]: sessionId(vault, session) } };
