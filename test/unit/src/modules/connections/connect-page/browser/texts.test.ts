import { describe, expect, it } from 'vitest';
import { en, type TextKey } from '#modules/access/connect-ui/texts/en.ts';
import {
  languageCodes,
  languageFor,
  languages,
  translator,
} from '#modules/access/connect-ui/texts/translate.ts';

const keys = Object.keys(en) as TextKey[];
const placesIn = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
/** The same word in both languages. */
const shared: Readonly<Partial<Record<string, readonly TextKey[]>>> = {
  de: ['code', 'optional', 'nameClientId', 'nameTokenId', 'fieldRefused'],
  fr: ['code', 'fieldRefused'],
  es: ['fieldRefused'],
  ja: ['fieldRefused'],
};

describe('the texts of the connect page', () => {
  it.each(languageCodes)('in %s have what is put in where English has it', (code) => {
    const { texts } = languages[code];
    const wrong = keys.filter((key) => placesIn(texts[key]).join() !== placesIn(en[key]).join());
    expect(wrong).toEqual([]);
  });

  it.each(languageCodes.filter((code) => code !== 'en'))('in %s are translated', (code) => {
    const { texts } = languages[code];
    const same = keys.filter((key) => texts[key] === en[key]);
    expect(same.filter((key) => !shared[code]?.includes(key))).toEqual([]);
  });

  it('are in the first language that the page speaks', () => {
    expect(languageFor(['pt-BR', 'fr-CA', 'de'])).toBe('fr');
    expect(languageFor(['', 'JA'])).toBe('ja');
    expect(languageFor(['nl'])).toBe('en');
  });

  it('give way to those of the application in the language that they are in', () => {
    const own = { de: { connectTo: 'Her mit {name}', unheardOf: 'x' } };
    expect(translator('de', own)('connectTo', { name: 'A' })).toBe('Her mit A');
    expect(translator('de', own)('back')).toBe('Zurück');
    expect(translator('en', own)('connectTo', { name: 'A' })).toBe('Connect A');
  });

  it('show what is put in as it is', () => {
    const t = translator('de');
    expect(t('connectTo', { name: 'A $& {field}' })).toBe('A $& {field} verbinden');
  });
});
