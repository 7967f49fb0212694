import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '#http/define-route.ts';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { Fingerprints } from '#modules/access/vault/vault.ts';

/** A session of an MCP client. Its id holds it, signed, so that any node can read it. */
export interface AgentSession {
  /** Name and version of the client. */
  readonly agent: string;
  readonly keyId: string;
  readonly startedAt: Instant;
}

const purpose = 'mcp-session';
const agentCharsMax = 100;

/** The value of `Mcp-Session-Id`. */
export function sessionId(vault: Fingerprints, session: AgentSession): string {
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  return `${text}.${vault.fingerprint(purpose, text)}`;
}

/** Null: it was not made here, belongs to another key, or is over. */
export function findSession(
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
export function agentOf(message: Json): string | null {
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
