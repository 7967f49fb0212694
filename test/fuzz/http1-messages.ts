import type { Random } from '#test/support/judges/random.ts';

/** Bytes of a provider, in the pieces in which they come, and the request that they answer. */
export interface GeneratedAnswer {
  readonly method: string;
  /** In latin1. */
  readonly pieces: readonly string[];
}

/** Where lines end: nearly always as they should. */
const lineEnds = ['\n', '\r', '\r\r\n', '\n\r\n', ' \r\n', '\0\r\n', '\r\n ', '\r\n\t'];
const versions = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/11',
];
const statuses = ['200', '200', '201', '204', '205', '206', '304', '404', '500', '503', '999'];
const oddStatuses = ['099', '20', '2000', '+20', '2 0', '101', '100', '199', '000', 'OK', ''];
const reasons = ['OK', '', 'Not Found', '\xe9\xff', 'a\tb', ' ', ':', 'HTTP/1.1 200 OK'];
const names = ['x-a', 'X-B', 'set-cookie', 'etag', "!#$%&'*+.^_`|~9", 'Connection', 'Keep-Alive'];
const oddNames = ['', 'x a', 'x:', 'x\0', '\xe9', '(x)', 'x\t', ' x', 'x ', '"x"', 'x\r', 'x\x7f'];
const values = ['1', '', 'a b', '\xe9\xff\x80', '\ta\t', '"q;,"', 'close', 'keep-alive', 'upgrade'];
const oddValues = ['\0', '\x01', '\x7f', 'a\rb', 'a\nb', '\x0b', '\x1b', '\r', 'a\r\n b'];
const colons = [': ', ':', ':\t ', ':  '];
const oddColons = [' : ', '\t:', ' ', '', '::', ':\r\n '];
const codings = [
  'foo, chunked',
  'chunked, foo',
  'gzip',
  'identity',
  'chunked, chunked',
  '"chunked"',
  'chunked;q=1',
  'xchunked',
  'chunkedx',
  'chunked,',
  ',chunked',
  '',
  'chunke',
  'c hunked',
  'chunked\x0b',
];
const extensions = [
  ';a',
  ';a=b',
  ';a=b;c',
  ';a="q;\\"x"',
  ';a=',
  ';=',
  ';',
  ' ;a',
  '; a = b',
  ';a="',
  ';\xe9',
  ' ',
  '\t',
  ',a',
  ';a\tb',
  ';a="\xe9"',
  ';a="\t"',
  ';a"b"',
];
const trailers = [
  'x-sum: 1',
  'x: ',
  'Content-Length: 5',
  'transfer-encoding: chunked',
  'x : 1',
  ' x: 1',
  'x',
  ': 1',
  'x: \xe9',
  'x: \0',
  'connection: close',
];
/** What a mutation puts in. */
const oddBytes = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\t',
  ' ',
  ':',
  ';',
  ',',
  '"',
  '0',
  '9',
  'a',
  'F',
  '\x7f',
];

/** An answer as a provider may send it, from faultless to broken, with what may follow it on its connection. */
export function generateAnswer(random: Random): GeneratedAnswer {
  const method = random.pick(['GET', 'GET', 'GET', 'POST', 'HEAD', 'DELETE']);
  /** How often something odd is chosen: in most answers nothing, or little. */
  const oddPercent = random.pick([0, 0, 1, 3, 10]);
  const writer = new Writer(random, oddPercent);
  let text = '';
  while (random.chance(12)) text += writer.interim();
  text += writer.message();
  if (random.chance(30)) text += writer.leftover();
  if (random.chance(35)) text = mutated(text, random);
  return { method, pieces: split(text, random) };
}

class Writer {
  readonly #random: Random;
  readonly #oddPercent: number;

  constructor(random: Random, oddPercent: number) {
    this.#random = random;
    this.#oddPercent = oddPercent;
  }

  interim(): string {
    const status = this.#random.pick(['100', '102', '103', '103', '101']);
    return `HTTP/1.1 ${status} Go${this.#end()}${this.#fields(2)}${this.#end()}`;
  }

  message(): string {
    const random = this.#random;
    const body = this.#bytes(random.pick([0, 1, 5, 16, 17, 100, 300]));
    const kind = random.pick(['length', 'length', 'chunked', 'chunked', 'close', 'both', 'none']);
    let framing = '';
    if (kind === 'length' || kind === 'both') framing += this.#length(body.length);
    if (kind === 'chunked' || kind === 'both') framing += this.#coding();
    const start = `${this.#statusLine()}${this.#end()}${this.#fields(3)}`;
    const head = `${start}${framing}${this.#fields(2)}${this.#end()}`;
    if (kind === 'none') return head;
    return (
      head +
      (kind === 'chunked' || (kind === 'both' && random.chance(50)) ? this.#chunks(body) : body)
    );
  }

  /** What comes after an answer, though nothing was asked for. */
  leftover(): string {
    const random = this.#random;
    return random.pick([
      () => this.message(),
      () => this.message(),
      () => '\r\n',
      () => '0\r\n\r\n',
      () => this.#bytes(5),
    ])();
  }

  #statusLine(): string {
    const version = this.#choose(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'], versions);
    const status = this.#choose(statuses, oddStatuses);
    const gap = this.#choose([' '], ['', '  ', '\t']);
    const reason = this.#random.chance(10) ? '' : ` ${this.#random.pick(reasons)}`;
    return `${version}${gap}${status}${reason}`;
  }

  #fields(most: number): string {
    let text = '';
    for (let left = this.#random.int(most + 1); left > 0; left -= 1) {
      text += this.#field(this.#choose(names, oddNames), this.#choose(values, oddValues));
    }
    return text;
  }

  #field(name: string, value: string): string {
    return `${name}${this.#choose(colons, oddColons)}${value}${this.#end()}`;
  }

  #length(bytes: number): string {
    const random = this.#random;
    const name = random.pick(['Content-Length', 'content-length', 'CONTENT-LENGTH']);
    const odd = [
      `+${bytes}`,
      `-${bytes}`,
      `${bytes}, ${bytes}`,
      `0x${bytes.toString(16)}`,
      `${bytes}.0`,
      `${bytes} ${bytes}`,
      `${bytes};`,
      '',
      '18446744073709551616',
      `${2 ** 53}`,
      `${bytes + 1}`,
      `${Math.max(0, bytes - 1)}`,
    ];
    const value = this.#choose([String(bytes), String(bytes), `0${bytes}`, `00000${bytes}`], odd);
    const again = random.chance(this.#oddPercent)
      ? this.#field(name, random.pick([value, '0', '7']))
      : '';
    return this.#field(name, value) + again;
  }

  #coding(): string {
    const name = this.#random.pick(['Transfer-Encoding', 'transfer-encoding']);
    const value = this.#choose(['chunked', 'chunked', 'Chunked', 'CHUNKED', ' chunked\t'], codings);
    const again = this.#random.chance(this.#oddPercent) ? this.#field(name, value) : '';
    return this.#field(name, value) + again;
  }

  #chunks(body: string): string {
    const random = this.#random;
    let text = '';
    for (let at = 0; at < body.length;) {
      const size = Math.min(body.length - at, 1 + random.int(40));
      text += `${this.#size(size)}${this.#end()}${body.slice(at, at + size)}${this.#end()}`;
      at += size;
    }
    const last = this.#choose(['0', '0', '000', '0000000000000000'], ['', '-0', '0x0', '00 ', 'g']);
    text += last + (random.chance(10) ? random.pick(extensions) : '') + this.#end();
    while (random.chance(15)) text += this.#choose(trailers.slice(0, 2), trailers) + this.#end();
    return text + this.#end();
  }

  #size(bytes: number): string {
    const hex = bytes.toString(16);
    const right = [hex, hex.toUpperCase(), `0${hex}`, `00000000000000000${hex}`];
    const odd = [
      `+${hex}`,
      `-${hex}`,
      `0x${hex}`,
      ` ${hex}`,
      `${hex}h`,
      `1${'0'.repeat(15)}`,
      `1${'0'.repeat(16)}`,
      'ffffffffffffffff',
    ];
    const extension = this.#random.chance(10) ? this.#random.pick(extensions) : '';
    return this.#choose(right, odd) + extension;
  }

  #bytes(count: number): string {
    let text = '';
    while (text.length < count) {
      text += this.#random.pick(['x', '\r\n', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\n', '\0', '\xff']);
    }
    return text.slice(0, count);
  }

  #end(): string {
    return this.#choose(['\r\n'], lineEnds);
  }

  #choose(right: readonly string[], odd: readonly string[]): string {
    return this.#random.pick(this.#random.chance(this.#oddPercent) ? odd : right);
  }
}

function mutated(text: string, random: Random): string {
  let result = text;
  for (let left = 1 + random.int(3); left > 0; left -= 1) {
    const at = random.int(result.length + 1);
    const to = Math.min(result.length, at + 1 + random.int(random.pick([1, 1, 4, 20])));
    const [before, cut, after] = [result.slice(0, at), result.slice(at, to), result.slice(to)];
    result = random.pick([
      () => before + after,
      () => before + cut + cut + after,
      () => before + random.pick(oddBytes) + cut + after,
      () => before + random.pick(oddBytes) + after,
      () => before + String.fromCharCode(random.int(256)) + after,
      () => before,
    ])();
  }
  return result;
}

/** As one piece, byte by byte, or at a few places, of which line ends are the most interesting. */
function split(text: string, random: Random): string[] {
  if (text === '') return [];
  if (random.chance(40)) return [text];
  if (random.chance(30)) return text.split('');
  const cuts = new Set<number>();
  for (let left = 1 + random.int(5); left > 0; left -= 1) {
    const near = random.chance(60) ? text.indexOf('\n', random.int(text.length)) : -1;
    cuts.add(near < 0 ? random.int(text.length) : Math.max(0, near - 1 + random.int(4)));
  }
  const places = [0, ...[...cuts].sort((a, b) => a - b), text.length];
  return places
    .slice(1)
    .map((to, n) => text.slice(places[n], to))
    .filter((piece) => piece !== '');
}
