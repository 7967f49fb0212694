/** Legacy codes of the names that the sandbox throws (Web IDL). */
const codes: Readonly<Record<string, number>> = {
  InvalidCharacterError: 5,
  AbortError: 20,
  TimeoutError: 23,
  DataCloneError: 25,
};

export class DOMException extends Error {
  readonly code: number;

  constructor(
    message: unknown = '',
    options: string | { name?: string; cause?: unknown } = 'Error',
  ) {
    const { name = 'Error', ...more } = typeof options === 'string' ? { name: options } : options;
    super(String(message), more);
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true });
    this.code = Object.hasOwn(codes, name) ? (codes[name] ?? 0) : 0;
    Object.defineProperty(this, 'code', { enumerable: false });
  }

  get [Symbol.toStringTag](): string {
    return 'DOMException';
  }
}
