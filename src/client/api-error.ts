/** The service's refusal in its own words, or why it could not be asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** `error.code` of the answer; `unreachable` or `invalid_answer` when there was no such answer. */
  readonly code: string;
  /** Of the answer; null when there was none. */
  readonly status: number | null;
  /** What to do about it, in a sentence; null when the answer does not say. */
  readonly fix: string | null;
  /** The whole body as it was read. */
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

/** An answer that is no success. @param text its body */
export function refusal(status: number, text: string): ApiError {
  const body = parsed(text);
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const code = textOf(error['code']) ?? textOf(isObject(body) ? body['error_type'] : null);
  const message = textOf(error['message']) ?? `The service answered ${status}.`;
  const issues = Array.isArray(error['errors']) ? error['errors'].flatMap(issueText) : [];
  const options = { status, fix: textOf(error['fix']), body };
  return new ApiError(code ?? `http_${status}`, [message, ...issues].join('\n  '), options);
}

/** JSON parsed, anything else as it is. */
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

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
