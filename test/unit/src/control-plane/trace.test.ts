import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  inSpan,
  inTrace,
  sampledTrace,
  startSpanOf,
  traceFields,
  traceHeaders,
  traceOf,
  useTracer,
} from '#control-plane/trace.ts';
import type { SpanStart, Tracer } from '#ports/tracer.ts';

const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a trace', () => {
  it('is the one that the header names', () => {
    expect(traceOf(given)).toBe(given);
  });

  it('is read from a later version as far as it is known', () => {
    const later = given.replace('00-', 'cc-');
    expect(traceOf(later)).toBe(given);
    expect(traceOf(`${later}-what-will-be`)).toBe(given);
  });

  it.each([
    undefined,
    '',
    given.toUpperCase(),
    given.slice(1),
    `${given}-more`,
    given.replace('00-', 'ff-'),
    given.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    given.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${given.replace('00-', 'cc-')}more`,
    `${given}, ${given}`,
  ])('is a new one where the header names none: %s', (header) => {
    const made = traceOf(header);
    expect(made).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(made).not.toBe(traceOf(header));
  });

  it('goes with what follows from the work, and with nothing else', async () => {
    const traced = inTrace(given, async () => {
      await wait(1);
      return traceHeaders();
    });
    expect(traceHeaders().traceparent).not.toBe(given);
    expect(await traced).toEqual({ traceparent: given });
  });
});

/** Keeps what its spans report, in order. */
class RecordingTracer implements Tracer {
  readonly started: SpanStart[] = [];
  readonly events: string[] = [];

  start(span: SpanStart) {
    this.started.push(span);
    const id = String(this.started.length).padStart(16, '0');
    const parent = span.parent ?? given;
    return {
      traceparent: `${parent.slice(0, 36)}${id}${parent.slice(52)}`,
      rename: (name: string) => void this.events.push(`${span.name} is ${name}`),
      set: () => undefined,
      fail: (type: string) => void this.events.push(`${span.name} failed: ${type}`),
      end: () => void this.events.push(`${span.name} ended`),
    };
  }
}

describe('a span', () => {
  afterEach(() => useTracer(null));

  const named = (name: string) => () => ({ name, kind: 'internal' }) as const;

  it('is the parent of the spans that start in it', async () => {
    const tracer = new RecordingTracer();
    useTracer(tracer);
    await inTrace(given, () =>
      inSpan(named('outer'), async () => {
        await wait(1);
        inSpan(named('inner'), () => expect(sampledTrace()).toBe(traceHeaders().traceparent));
      }),
    );
    const [outer, inner] = tracer.started;
    expect(outer?.parent).toBe(given);
    expect(inner?.parent).toBe(given.replace('b7ad6b7169203331', '0000000000000001'));
    expect(tracer.events).toEqual(['inner ended', 'outer ended']);
  });

  it('fails with the name of the exception, and never with its message', async () => {
    const tracer = new RecordingTracer();
    useTracer(tracer);
    const thrown = new RangeError('a secret');
    expect(() =>
      inSpan(named('now'), () => {
        throw thrown;
      }),
    ).toThrow(thrown);
    await expect(inSpan(named('later'), () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(tracer.events).toEqual([
      'now failed: RangeError',
      'now ended',
      'later failed: RangeError',
      'later ended',
    ]);
  });

  it('starts a trace where the header names none', () => {
    const tracer = new RecordingTracer();
    useTracer(tracer);
    startSpanOf('no trace', named('root'));
    startSpanOf(given, named('child'));
    expect(tracer.started.map(({ parent }) => parent)).toEqual([null, given]);
  });

  it('gives log lines its trace', () => {
    useTracer(new RecordingTracer());
    expect(inTrace(given, traceFields)).toEqual({ trace_id: '0af7651916cd43dd8448eb211c80319c' });
    expect(traceFields()).toEqual({});
  });

  it('is none while tracing is off', () => {
    inTrace(given, () => {
      expect(inSpan(named('any'), (span) => span)).toBeNull();
      expect(sampledTrace()).toBeNull();
      expect(traceFields()).toEqual({});
    });
  });

  it('carries no trace that is not sampled into messages that only carry recorded ones', () => {
    useTracer(new RecordingTracer());
    expect(inTrace(given.replace(/01$/, '00'), sampledTrace)).toBeNull();
  });
});
