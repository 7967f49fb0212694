/** The service's refusal, or why the service could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** `error.code` of the response; `unreachable` or `invalid_answer` without a valid one. */
  readonly code: string;
  /** Of the response; null when there was none. */
  readonly status: number | null;
  /** The fix, as one sentence; null when the response has none. */
  readonly fix: string | null;
  /** The whole body. */
  readonly body: unknown;

  constructor(
    code: string,
    message: string,
    options: ErrorOptions & {
      readonly status?: number;
      readonly fix?: string | null;
      readonly body?: unknown;
    } = {},
  ) {
    super(message, options);
    this.code = code;
    this.fix = options.fix ?? null;
    this.status = options.status ?? null;
    this.body = options.body;
  }
}

/** An unsuccessful response. @param text its body */
export function refusal(status: number, text: string): ApiError {
  const body = parsed(text);
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const code =
    stringOrNull(error['code']) ?? stringOrNull(isObject(body) ? body['error_type'] : null);
  const message = stringOrNull(error['message']) ?? `The service answered ${status}.`;
  const all = Array.isArray(error['errors']) ? error['errors'].flatMap(issueText) : [];
  // Some messages have them already.
  const issues = all.filter((issue) => !message.includes(issue));
  const options = { status, fix: stringOrNull(error['fix']), body };
  return new ApiError(code ?? `http_${status}`, [message, ...issues].join('\n  '), options);
}

/** JSON parsed, anything else unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function issueText(issue: unknown): string[] {
  if (!isObject(issue) || typeof issue['message'] !== 'string') return [];
  const path = Array.isArray(issue['path']) ? issue['path'].join('.') : '';
  return [path === '' ? issue['message'] : `${path}: ${issue['message']}`];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const stringOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
