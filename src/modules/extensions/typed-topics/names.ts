/** The name pattern of the topics of all models: `svc.cdc.<environment>.<integration>.<model>`. */
const prefix = 'svc.cdc';

/** Kafka's limit. */
export const topicNameCharsMax = 249;

/**
 * Name of a model's topic without its major version: lower case, with a hyphen for each character that a topic name
 * does not allow or that separates its parts.
 */
export function addressOf(environment: string, integrationKey: string, model: string): string {
  return [prefix, ...[environment, integrationKey, model].map(part)].join('.');
}

const part = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '-');

export const topicOf = (address: string, major: number): string => `${address}.v${major}`;

/** No version: its schema only gains fields. */
export const heartbeatTopicOf = (address: string): string => `${address}.heartbeat`;

/** Avro namespace of the topic's schemas: its parts as Avro names. */
export function namespaceOf(address: string): string {
  return address.split('.').map(avroName).join('.');
}

/** The text as an Avro name: letters, digits and `_`, not beginning with a digit. */
export function avroName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9_]/g, '_');
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}
