import type { Provider } from '#modules/connections/providers/definition.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import type {
  Condition,
  ConnectionRule,
  KeySource,
  SignatureRule,
  Source,
  WebhookRules,
} from '#modules/connections/providers/webhook-rules.ts';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** `docs/generated/provider-webhooks.md`: how webhooks of each provider of the catalog are verified and attributed. */
export function providerWebhooksPage(table: Table, hint: string): string {
  const rows = loadCatalogue({ overlayPath: null })
    .all()
    .flatMap(({ name, webhook_routing: rules }: Provider) =>
      rules === undefined ? [] : [rowOf(name, rules)],
    );
  const head = ['Provider', 'Signature', 'Secret', 'Connection', 'Type', 'Otherwise'];
  return `# Webhooks of the providers

What the definitions of the built-in catalog say (\`webhook_routing\`). The words are those of the
[format](../reference/provider-format.md#webhook_routing). ${hint}

${table(head, rows)}
`;
}

function rowOf(name: string, rules: WebhookRules): string[] {
  const { signatures, connection, type } = rules;
  return [
    `\`${name}\``,
    signatures.map(signatureText).join('; ') || 'none',
    signatures.map(secretText).join('; '),
    connection?.map(connectionText).join('; ') ?? (rules.is_for_all ? 'all' : 'none'),
    type === undefined ? '' : sourcesText(type),
    othersOf(rules).join('; '),
  ];
}

function signatureText(rule: SignatureRule): string {
  const { scheme, algorithm, encoding, prefix, element, message, key_encoding: key } = rule;
  const place = placeText(rule);
  if (place === null || scheme === 'standard-webhooks') {
    return place === null ? scheme : `${scheme} in ${place}`;
  }
  if (scheme === 'token') return `token in ${place}`;
  const form = [
    ...(prefix === '' ? [] : [`prefix \`${prefix}\``]),
    ...(element === undefined ? [] : [`element \`${element}\``]),
    ...(message === '$body' ? [] : [`message \`${message.replaceAll('|', '\\|')}\``]),
    ...(key === 'utf8' ? [] : [`key in ${key}`]),
    ...(rule.timestamp === undefined ? [] : [`${rule.tolerance_seconds} s`]),
  ];
  const isByPublicKey = ['rsa', 'ecdsa', 'ed25519'].includes(scheme);
  const signed = isByPublicKey ? scheme : `${scheme} ${algorithm} ${encoding}`;
  return [`${signed} in ${place}`, ...form].join(', ');
}

/** Null: the place that the scheme has. */
function placeText({ header, query, body }: SignatureRule): string | null {
  if (body !== undefined) return `body \`${body}\``;
  if (query !== undefined) return `query \`${query}\``;
  return header === undefined ? null : `\`${header}\``;
}

function secretText({ scheme, keys, is_required: isRequired }: SignatureRule): string {
  const names = scheme === 'jwt' ? 'public keys' : keys.map(keyText).join(', else ');
  return isRequired ? names : `${names} (optional)`;
}

const keyText = (key: KeySource): string =>
  typeof key === 'string' ? `\`${key}\`` : `\`metadata.${key.metadata.join('.')}\``;

function connectionText({ when, property, identifier, ...rule }: ConnectionRule): string {
  const condition = when === undefined ? '' : ` where ${conditionText(when)}`;
  const marks = [
    ...(rule.is_required ? ['required'] : []),
    ...(rule.is_token ? ['is the secret'] : []),
  ];
  const notes = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  return `\`${property}\` = ${sourcesText(identifier)}${condition}${notes}`;
}

function othersOf(rules: WebhookRules): string[] {
  const { events, order, installation } = rules;
  return [
    ...(events === undefined
      ? []
      : [`events ${events.path === undefined ? 'of a list' : `in \`${events.path}\``}`]),
    ...(rules.event_token === undefined
      ? []
      : [`each repeats the secret in \`${rules.event_token}\``]),
    ...rules.skip.map((one) => `skips ${conditionText(one)}`),
    ...(order === undefined ? [] : [`\`…${order.first}\` first, then by \`${order.by}\``]),
    ...(rules.form_field === undefined ? [] : [`JSON in the form field \`${rules.form_field}\``]),
    ...(rules.body_of_headers ? ['headers stand for the body'] : []),
    ...rules.unsigned.map((one) => `unsigned with ${conditionText(one)}`),
    ...rules.handshakes.map(({ when, answer, json, header }) => {
      const text = answer === null ? 'nothing' : sourceText(answer);
      const form = json === undefined ? '' : ' in JSON';
      const place = header === undefined ? '' : ` in header \`${header}\``;
      return `${conditionText(when)}: answers ${text}${form}${place}`;
    }),
    ...rules.challenges.map(({ when, answer }) => {
      const condition = when === undefined ? 'GET' : `GET with ${conditionText(when)}`;
      return `${condition}: answers ${sourceText(answer)}`;
    }),
    ...(installation === undefined
      ? []
      : [`installation where ${installation.when.map(conditionText).join(' and ')}`]),
    ...(rules.delivery_id === undefined ? [] : [`delivery id: ${sourcesText(rules.delivery_id)}`]),
  ];
}

const sourcesText = (sources: readonly Source[]): string => sources.map(sourceText).join(', else ');

function sourceText({ body, header, query, value, decoded, take }: Source): string {
  const names = [
    ...(value === undefined ? [] : [`\`${value}\``]),
    ...(header === undefined ? [] : [`header \`${header}\``]),
    ...(query === undefined ? [] : [`query \`${query}\``]),
    ...(body === undefined ? [] : [`body \`${body}\``]),
  ];
  const inner = decoded === undefined ? '' : ` → \`${decoded}\``;
  return `${names.join(' ')}${inner}${take === undefined ? '' : ` (${take})`}`;
}

const conditionText = ({ equals, ...source }: Condition): string =>
  `${sourceText(source)}${equals === undefined ? '' : ` = \`${equals}\``}`;
