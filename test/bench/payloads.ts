import { createHash } from 'node:crypto';

const words =
  'account annual archive balance billing campaign channel client contract customer delivery discount draft event export forecast invoice lead market notes offer order partner payment pipeline product project proposal quarter region renewal report sales schedule segment service stage status supplier support target task team ticket update vendor visit weekly yearly'.split(
    ' ',
  );

/** Deterministic bytes for record `index` of a `version`: the same in every run. */
function chance(index: number, version: number): Buffer {
  return createHash('sha512').update(`${index}/${version}`).digest();
}

/**
 * A contact as a CRM gives it: 430 bytes of JSON, ids in random order, text of common words, some fields
 * that do not compress (ids, e-mail, hash).
 */
export function contact(index: number, version = 0): Record<string, string | number | boolean> {
  const fixed = chance(index, 0);
  const random = chance(index, version);
  const word = (at: number) => words[(random[at] ?? 0) % words.length] ?? '';
  const record = {
    id: fixed.toString('hex', 0, 12),
    first_name: word(13),
    last_name: word(14),
    email: `${word(13)}.${word(14)}.${fixed.toString('hex', 16, 19)}@example.com`,
    phone: `+49 30 ${fixed.readUInt32BE(20)}`,
    company_id: fixed.readUInt32BE(24),
    stage: word(28),
    score: (random[29] ?? 0) / 255,
    is_active: ((random[30] ?? 0) & 1) === 1,
    owner: fixed.toString('base64url', 32, 44),
    updated_at: `2026-0${1 + ((random[45] ?? 0) % 9)}-1${(random[46] ?? 0) % 10}T08:${10 + ((random[47] ?? 0) % 50)}:00Z`,
    notes: '',
  };
  let length = JSON.stringify(record).length;
  const notes: string[] = [];
  for (let at = 0; length < 424; at += 1) {
    const next = `${word(at % 64)} ${words[(index * 7 + at * 13 + version) % words.length] ?? ''}`;
    notes.push(next);
    length += next.length + 1;
  }
  const text = notes.join(' ');
  return {
    ...record,
    notes: text
      .slice(0, text.length - (length - 430))
      .trimEnd()
      .padEnd(1, '.'),
  };
}
