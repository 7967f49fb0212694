import { describe, expect, it } from 'vitest';
import { learnDictionary } from '#modules/records/model/sealed-payload.ts';

const texts = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: `c${i}`,
      stage: ['lead', 'won'][i % 2],
      secret: `only-${i}-x${i * 7919}`,
    }),
  );

describe('what many payloads share', () => {
  it('has the names in their order and the words that recur, and nothing that one payload has alone', () => {
    const learnt = learnDictionary(texts(64)).toString();
    expect(learnt).toContain('","stage":"');
    expect(learnt).toContain('","secret":"only-');
    expect(learnt).toContain('lead');
    for (let i = 20; i < 64; i++) expect(learnt).not.toContain(`x${i * 7919}`);
  });

  it('is not led astray by texts that repeat themselves', () => {
    const repeating = texts(64).map((text, i) =>
      i % 3 === 0 ? text.replace('won', 'won '.repeat(900)) : text,
    );
    const learnt = learnDictionary(repeating).toString();
    expect(learnt).toContain('","secret":"only-');
    expect(learnt.length).toBeLessThan(400);
  });

  it('is nothing where too few are alike, and never long', () => {
    expect(learnDictionary([])).toHaveLength(0);
    expect(learnDictionary(texts(2))).toHaveLength(0);
    expect(learnDictionary(['[1]', '[2]', '{}'])).toHaveLength(0);
    const wide = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`field_${i}`, i]));
    const many = Array.from({ length: 40 }, () => JSON.stringify(wide));
    expect(learnDictionary(many).length).toBeLessThanOrEqual(2048);
  });
});
