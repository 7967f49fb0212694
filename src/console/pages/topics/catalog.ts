/** What the AsyncAPI document of the service says about one public topic. */
export interface Topic {
  readonly name: string;
  readonly purpose: string;
  readonly partitions: number | null;
  /** Settings of the topic, such as `cleanup.policy`. */
  readonly settings: Fields;
  readonly messages: readonly TopicMessage[];
}

export interface TopicMessage {
  readonly name: string;
  readonly summary: string;
  /** What the key of a message consists of. */
  readonly key: string;
  readonly headers: unknown;
  readonly payload: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** The public topics of `GET /asyncapi.json`, by name. */
export function topicsOf(document: Fields): readonly Topic[] {
  const messages = fieldsAt(document, 'components', 'messages');
  return Object.entries(fieldsAt(document, 'channels'))
    .map(([name, channel]) => ({
      name,
      purpose: textAt(channel, 'description'),
      partitions: numberAt(channel, 'bindings', 'kafka', 'partitions'),
      settings: fieldsAt(channel, 'bindings', 'kafka', 'topicConfiguration'),
      messages: Object.keys(fieldsAt(channel, 'messages')).map((one) =>
        messageOf(one, messages[one]),
      ),
    }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

const messageOf = (name: string, message: unknown): TopicMessage => ({
  name,
  summary: textAt(message, 'summary') || textAt(message, 'description'),
  key: textAt(message, 'bindings', 'kafka', 'key', 'description'),
  headers: fieldsAt(message, 'headers', 'properties'),
  payload: valueAt(message, ['payload']),
});

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((found, name) => (isFields(found) ? found[name] : undefined), value);

function fieldsAt(value: unknown, ...path: readonly string[]): Fields {
  const found = valueAt(value, path);
  return isFields(found) ? found : {};
}

function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, path);
  return typeof found === 'string' ? found : '';
}

function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = valueAt(value, path);
  return typeof found === 'number' ? found : null;
}
