import { describe, expect, it } from 'vitest';
import { codingsOf } from '#adapters/http-client/decode.ts';
import { parseAnswerHead } from '#adapters/http-client/http1/answer-head.ts';
import { linkTarget } from '#adapters/sandbox/guest/paginate.ts';
import { maskedUrl, origins } from '#app/config/addresses.ts';
import { traceOf } from '#control-plane/trace.ts';
import {
  connectionId,
  flag,
  integrationKey,
  tags,
  text,
  webAddress,
  wholeNumber,
} from '#http/fields.ts';
import { codingFor, languageFor } from '#http/negotiate.ts';
import { parseQuery } from '#http/query.ts';
import { tailCursor } from '#http/topic-tail.ts';
import { bodyText } from '#kernel/body-text.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { Mask } from '#kernel/mask.ts';
import { redactJson, redactText } from '#kernel/redact.ts';
import { scrub } from '#kernel/scrub.ts';
import { microsOf } from '#kernel/time.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { callbackErrorIn } from '#modules/connections/authorizations/callback.ts';
import { retryWaitMs } from '#modules/connections/providers/call-retry.ts';
import { fieldProblem } from '#modules/connections/providers/field-check.ts';
import {
  webhookRules,
  type WebhookRules,
  type SignatureRule,
} from '#modules/connections/providers/webhook-rules.ts';
import { parseFrequency } from '#modules/functions/functions/frequency.ts';
import { readCallHeaders } from '#modules/proxy/headers.ts';
import { decodeCursor } from '#modules/records/model/cursor.ts';
import { readFacts } from '#modules/webhooks/webhooks-in/facts.ts';
import { verifySignature } from '#modules/webhooks/webhooks-in/verify.ts';
import { interpolate } from '#rules/interpolate.ts';
import { joinUrl, withParams } from '#rules/url.ts';
import { cpuMsOf, slowerThan } from '#test/support/judges/cpu-time.ts';
import { hostileUnits, repeated } from '#test/support/judges/hostile-text.ts';

const chars = 32 * 1024;
const ratioMax = 5;
/** Both works read 128 KB of JSON as well, about what a request costs: less than that is nothing to attack with. */
const body = `[${repeated('{"name":"value"},', 4 * chars)}`.replace(/,[^,]*$/, ']');

const rulesOf = (input: object) => webhookRules.parse(input) as WebhookRules;
const rules = rulesOf({});
const incoming = (headers: Record<string, string>, body = '{}') => ({
  headers,
  search: '',
  bytes: Buffer.from(body),
});
const signed = (rule: Partial<SignatureRule>) => (given: string) => {
  const [signature] = rulesOf({ signatures: [{ scheme: 'hmac', ...rule }] }).signatures;
  const headers = { 'x-signature': given, 'webhook-signature': given };
  const more = { 'webhook-id': 'm-1', 'webhook-timestamp': '1000' };
  const request = incoming({ ...headers, ...more });
  verifySignature(signature!, { request, facts: null, address: () => '' }, 'a secret', 1000);
};
const reply = (headers: Record<string, string>) => ({
  status: 429,
  statusText: '',
  headers,
  body: Buffer.from('{}'),
  url: '',
});

interface Reader {
  /** Reads the text; what it throws is an answer, too. */
  readonly read: (text: string) => unknown;
  /** What stands before the repetition, so that a reader gets as far; default: nothing. */
  readonly starts?: readonly string[];
  /** Repeated, the text to compare with: as many parts as a reader of lists has to look at; default: `a`. */
  readonly harmless?: string;
}

/** What reads text of callers, of providers and of functions. */
const readers: Readonly<Record<string, Reader>> = {
  'Accept-Encoding': { read: (text) => codingFor(text, ['br', 'gzip']), starts: ['', 'br;q=0.'] },
  'Accept-Language': { read: (text) => languageFor(text, ['en', 'de']), starts: ['', 'de;q=0.'] },
  traceparent: { read: traceOf, starts: ['', '00-'] },
  'a query': {
    read: parseQuery,
    starts: ['', 'a[', 'a[b]='],
    harmless: 'a=1&',
  },
  ...Object.fromEntries(
    [
      'provider-config-key',
      'connection-id',
      'retries',
      'retry-on',
      'base-url-override',
      'decompress',
    ].map((name): [string, Reader] => [
      `the header ${name} of a proxied call`,
      {
        read: (text) => readCallHeaders({ [name]: text }),
        starts: ['', '409', 'https://a'],
        harmless: '409,\u00e9',
      },
    ]),
  ),
  'the description of an error in a callback': {
    read: (text) => callbackErrorIn({ error: 'x', error_description: text }, new Mask()),
  },
  'the address of an error in a callback': {
    read: (text) => callbackErrorIn({ error: 'x', error_uri: text }, new Mask()),
    starts: ['', 'https://a'],
  },
  'an integration key': { read: (text) => integrationKey.safeParse(text) },
  'a connection id': { read: (text) => connectionId.safeParse(text) },
  'a field of text': { read: (value) => text(1, 255).safeParse(value) },
  'a flag': { read: (text) => flag.safeParse(text) },
  'a number': { read: (text) => wholeNumber(0, 10).safeParse(text), starts: ['', '-', '1'] },
  'a web address': { read: (text) => webAddress.safeParse(text), starts: ['', 'https://a'] },
  'the key of a tag': { read: (key) => tags.safeParse({ [key]: 'x' }) },
  'an e-mail address in a tag': {
    read: (value) => tags.safeParse({ end_user_email: value }),
    starts: ['', 'a@', 'a@b.'],
  },
  'a cursor of records': { read: decodeCursor },
  'a cursor of a tail': { read: (text) => tailCursor.parse(text), starts: ['', 'WzE'] },
  'a moment': { read: microsOf, starts: ['', '2026-01-01T00:00:00.'] },
  'a frequency': { read: parseFrequency, starts: ['', 'every ', '1'], harmless: 'a ' },
  ...Object.fromEntries(
    (['hostname', 'uri', 'uuid', 'email'] as const).map((format): [string, Reader] => [
      `a field of the format ${format}`,
      {
        read: (text) =>
          fieldProblem({ type: 'string', title: '', description: '', format }, text.slice(0, 8192)),
        starts: ['', 'a@', 'a:'],
      },
    ]),
  ),
  'the endpoint of a proxied call': {
    read: (text) => joinUrl('https://api.example.com', text),
    starts: ['', '/', '/a?', 'https:'],
    harmless: '\u00e9/',
  },
  'parameters of a call': {
    read: (text) => withParams(new URL('https://api.example.com'), text),
    harmless: 'a=1&',
  },
  'a template': {
    read: (text) =>
      interpolate(text, {
        connectionConfig: {},
        metadata: {},
        credentials: null,
        now: 0,
        random: '',
      }),
    starts: ['', '${', '${now'],
    harmless: '${random}',
  },
  origins: { read: origins, starts: ['', 'https://'], harmless: 'a,' },
  'a URL with a password': { read: maskedUrl, starts: ['', '//', '//a:'] },
  'an address with slashes': { read: withoutTrailingSlashes, harmless: '/' },
  'an error message': {
    read: scrub,
    starts: ['', 'bearer ', 'token', 'https://'],
    harmless: 'some token=abc ',
  },
  'a log line': { read: redactText, starts: ['', 'bearer ', 'token'], harmless: 'some token=abc ' },
  'a logged value': {
    read: (text) => redactJson(JSON.stringify({ text })),
    harmless: 'some token=abc ',
  },
  'the body of a webhook': {
    read: (text) =>
      readFacts({ ...incoming({}), bytes: Buffer.from(text) }, rules).catch(
        (error: unknown) => error,
      ),
    starts: ['', '{', '"'],
    // As long as the engine takes for nested lists.
    harmless: '[',
  },
  'a form of a webhook': {
    read: (text) =>
      readFacts(
        {
          ...incoming({ 'content-type': 'application/x-www-form-urlencoded' }),
          bytes: Buffer.from(text),
        },
        rules,
      ),
    harmless: 'a=1&',
  },
  'the charset of a body': {
    read: (text) => bodyText(Buffer.from('a'), text),
    starts: ['', 'text/plain;', 'text/plain;charset='],
  },
  'a multipart body of a webhook': {
    read: (text) =>
      readFacts(
        {
          ...incoming({ 'content-type': 'multipart/form-data; boundary=b' }),
          bytes: Buffer.from(text),
        },
        rules,
      ).catch((error: unknown) => error),
    starts: ['', '--b\r\n'],
  },
  'a signature': { read: signed({ header: 'x-signature' }) },
  'a signature among elements': {
    read: signed({
      header: 'x-signature',
      element: 'v1',
      timestamp: { element: 't', format: 'seconds' },
    }),
    starts: ['', 't=1000,', 't=1000,v1='],
    harmless: 'v1=abc,',
  },
  'a signature of Standard Webhooks': {
    read: signed({ scheme: 'standard-webhooks' }),
    harmless: 'v1,abc ',
  },
  'an RSA signature': { read: signed({ scheme: 'rsa', header: 'x-signature' }) },
  'an Ed25519 signature': { read: signed({ scheme: 'ed25519', header: 'x-signature' }) },
  'the head of an answer': {
    read: (text) => parseAnswerHead(`HTTP/1.1 200 OK\r\n${text}`, 'GET'),
    starts: ['', 'a: ', 'keep-alive: ', 'connection: '],
    harmless: 'a: b\r\n',
  },
  'Content-Encoding': { read: (text) => codingsOf(200, text), harmless: 'gzip,' },
  Link: {
    read: (text) => linkTarget(text, 'next'),
    starts: ['', '<', '</a>; ', '</a>; rel="', '</a>; title="\\'],
    harmless: '</a>; rel="prev",',
  },
  'JSON with integers of many digits': {
    read: parseExactJson,
    starts: ['', '[', '[9007199254740993,'],
    harmless: '[',
  },
  'Retry-After': {
    read: (value) =>
      retryWaitMs(
        reply({ 'retry-after': value }),
        { call: { after: ['retry-after'], at: ['retry-after'] }, provider: undefined },
        0,
        0,
      ),
  },
};

describe('32 KB of the worst repetition take no longer than 5 times as harmless text:', () => {
  it.each(Object.entries(readers))('%s', async (_name, { read, starts = [''], harmless = 'a' }) => {
    const attempt = (given: string) => () => {
      JSON.parse(body);
      try {
        read(given);
      } catch {
        // A refusal.
      }
    };
    const plain = attempt(repeated(harmless, chars));
    const plainMs = await cpuMsOf(plain);
    const slow: string[] = [];
    for (const start of starts) {
      for (const unit of hostileUnits) {
        for (const end of ['', '!']) {
          const hostile = start + repeated(unit, chars - start.length - end.length) + end;
          const work = attempt(hostile);
          // Most are cleared by one call; where in doubt both are measured side by side.
          if ((await cpuMsOf(work)) <= ratioMax * plainMs) continue;
          const found = await slowerThan(ratioMax, work, plain);
          if (found !== null) {
            slow.push(
              `${JSON.stringify([start, unit, end])}: ${found.ms}, not ${found.otherMs} ms`,
            );
          }
        }
      }
    }
    expect(slow).toEqual([]);
  });
});
