/** A time of a parameter or a document in milliseconds since the epoch; NaN: it is none. */
export function timeOf(value: unknown): number {
  if (typeof value === 'number') return value * (value < firstMilliseconds ? 1000 : 1);
  if (typeof value !== 'string') return NaN;
  const text = value.trim();
  const inScript = scriptDate.exec(text)?.[1];
  if (inScript !== undefined) return Number(inScript);
  if (/^\d+(\.\d+)?$/.test(text)) return timeOf(Number(text));
  const isLocal = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text);
  return Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text);
}

/** A time as scripts of old note it: `/Date(1573755038314+0000)/`. */
const scriptDate = /^\/Date\((-?\d+)/;

/** Epoch milliseconds have twelve digits from 1973 on; seconds get there in the year 5138. */
const firstMilliseconds = 1e11;

const formats = {
  iso: /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  unix: /^\d{1,11}(\.\d+)?$/,
  unix_ms: /^(0|\d{12,})$/,
} as const;

export const hasFormat = (text: string, format: keyof typeof formats): boolean =>
  formats[format].test(text);

/** The time in the notation of the sample: a number or text, in seconds or milliseconds. */
export function timeLike(sample: unknown, time: number): string | number {
  const seconds = Math.floor(time / 1000);
  if (typeof sample === 'number') return sample < firstMilliseconds ? seconds : time;
  const text = typeof sample === 'string' ? sample : '';
  if (/^\d+$/.test(text)) return String(timeLike(Number(text), time));
  if (scriptDate.test(text)) return `/Date(${time}+0000)/`;
  const iso = new Date(time).toISOString();
  const isWhole = !/:\d{2}\.\d+/.test(text);
  const noted = isWhole ? `${iso.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z` : iso;
  if (/^\d{4}-\d{2}-\d{2} /.test(text)) return noted.replace('T', ' ').replace('Z', '');
  const isLocal = /T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text);
  const [offset = isLocal ? '' : 'Z'] = /[+-]00:?00$/.exec(text) ?? [];
  return noted.replace('Z', offset);
}
