import { isIP } from 'node:net';
import type { Caller, RouteAnswer } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import type { AuditRule } from './audited-routes.ts';
import type { AuditRecorder } from './recorder.ts';

/** A call of an audited route. */
export interface AuditCall {
  readonly rule: AuditRule;
  readonly caller: Caller;
  /** Of the client. */
  readonly address: string;
  /** The validated input; null until it is validated. */
  given: {
    readonly params: unknown;
    readonly query: unknown;
    readonly body: unknown;
  } | null;
}

/**
 * Runs the handler and publishes an audit event with the caller and the outcome. The event of a change is durable
 * before the response; a successful response is sent even if the event could not be published, which is logged.
 * @throws what the work throws
 */
export async function audited(
  services: { readonly audit: Pick<AuditRecorder, 'happened' | 'read'> },
  call: AuditCall,
  task: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  try {
    const answer = await task();
    await record(services, call, 'success', jsonOf(answer.body));
    return answer;
  } catch (error) {
    const outcome = error instanceof GatewayError ? error.code : 'server_error';
    // An invalid request changed nothing and is not audited.
    if (call.given === null && outcome !== 'forbidden') throw error;
    await record(services, call, outcome, null);
    throw error;
  }
}

async function record(
  { audit }: { readonly audit: Pick<AuditRecorder, 'happened' | 'read'> },
  { rule, caller, address, given }: AuditCall,
  outcome: string,
  answer: Json | null,
): Promise<void> {
  const { params, query, body } = given ?? {};
  const parts = { params: objectOf(params), query: objectOf(query), body: objectOf(body) };
  const target = rule.target({ caller, ...parts, answer });
  if (target === null) return;
  const fields = Object.keys(parts.body).slice(0, fieldsMax);
  const { consoleSessionId, agent } = caller;
  const details = {
    actor: caller.actor,
    action: rule.action,
    target: target.slice(0, targetCharsMax),
    outcome,
    ip_prefix: ipPrefix(address),
    // Names only: values may be secrets.
    details: detailsOf({
      ...(fields.length === 0 ? {} : { fields }),
      ...(consoleSessionId === undefined ? {} : { console_session: consoleSessionId }),
      ...(agent === undefined ? {} : { agent }),
    }),
  };
  const environment = caller.environmentUid === '' ? 'account' : caller.environmentUid;
  if (rule.isRead === true) {
    audit.read(environment, details);
    return;
  }
  await audit.happened(environment, details);
}

const detailsOf = (details: object): string | null =>
  Object.keys(details).length === 0 ? null : JSON.stringify(details);

const targetCharsMax = 1_000;
const fieldsMax = 50;

/** Byte bodies are pages of records, and the audit event needs none of their fields. */
const jsonOf = (body: unknown): Json | null => (isJsonObject(body) ? body : null);

/** /24 of an IPv4 address, /48 of an IPv6 address; null for anything else. */
export function ipPrefix(address: string): string | null {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (isIP(plain) === 4) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (isIP(plain) !== 6) return null;
  const [head = '', tail] = plain.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 3);
  return `${groups.map((group) => parseInt(group, 16).toString(16)).join(':')}::/48`;
}
