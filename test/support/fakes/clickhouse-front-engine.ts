import { Session } from 'chdb';

/** An exception of the engine in its parts. */
export class EngineError extends Error {
  readonly code: number;
  readonly type: string;
  constructor(code: number, message: string, type: string) {
    super(message);
    this.code = code;
    this.type = type;
  }
}

interface Statement {
  readonly text: Buffer;
  readonly database: string;
  /** Where the statement names none. */
  readonly format: string;
  /** Settings, and parameters of the statement as `param_name`. */
  readonly settings: readonly (readonly [name: string, value: string])[];
}

interface Answer {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** A session runs one statement at a time: enough of them that those of a test do not wait for each other. */
const sessionsOpen = 8;

/** The engine in this process, for many statements at once. */
export class Engine {
  readonly #idle: Session[];
  readonly #open: () => Session;
  readonly #waiting: ((session: Session) => void)[] = [];
  readonly version: string;

  constructor(folder: string, configFile?: string) {
    const connectionArgs = configFile === undefined ? [] : [`--config-file=${configFile}`];
    this.#open = () => new Session(folder, { connectionArgs });
    this.#idle = Array.from({ length: sessionsOpen }, this.#open);
    this.version = this.#idle[0]?.query('SELECT version()', 'TabSeparatedRaw').trim() ?? '';
  }

  /** @throws EngineError */
  async run(statement: Statement): Promise<Answer> {
    // A session that only reads cannot return to its defaults.
    if (statement.settings.some(([name]) => name === 'readonly')) return this.#runAlone(statement);
    const session = this.#idle.pop() ?? (await this.#next());
    try {
      return await runOn(session, statement);
    } catch (error) {
      throw engineErrorOf(error);
    } finally {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#idle.push(session);
      else waiting(session);
    }
  }

  async #runAlone(statement: Statement): Promise<Answer> {
    const session = this.#open();
    try {
      return await runOn(session, statement, false);
    } catch (error) {
      throw engineErrorOf(error);
    } finally {
      session.close();
    }
  }

  #next(): Promise<Session> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Settings are those of one statement: the next one on this session finds the defaults again. */
async function runOn(session: Session, statement: Statement, isReused = true): Promise<Answer> {
  const { text, database, format, settings } = statement;
  const given = settings.map(([name, value]) => `${name} = '${escaped(value)}'`);
  const names = settings.map(([name]) => name).filter((name) => !name.startsWith('param_'));
  await session.queryAsync(`USE \`${database}\``);
  try {
    if (given.length > 0) await session.queryAsync(`SET ${given.join(', ')}`);
    const result = await session.queryAsync(text.toString(), { format });
    return { bytes: result.bytes(), rowsRead: result.rowsRead, bytesRead: result.bytesRead };
  } finally {
    if (isReused && names.length > 0) {
      await session.queryAsync(`SET ${names.map((name) => `${name} = DEFAULT`).join(', ')}`);
    }
  }
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll("'", "\\'");

function engineErrorOf(error: unknown): EngineError {
  const text = error instanceof Error ? error.message : String(error);
  const parts = /^Code: (\d+)\. DB::Exception: (.*) \(([A-Z_0-9]+)\)\s*$/s.exec(text);
  if (parts === null) return new EngineError(1001, text, 'STD_EXCEPTION');
  const [, code = '', message = '', type = ''] = parts;
  return new EngineError(Number(code), message, type);
}
