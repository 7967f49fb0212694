import { de } from './de.ts';
import { en, type TextKey, type PageTexts } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';

/** The languages of the page, each in its own language. */
export const languages = {
  en: { name: 'English', texts: en },
  de: { name: 'Deutsch', texts: de },
  fr: { name: 'Français', texts: fr },
  es: { name: 'Español', texts: es },
  ja: { name: '日本語', texts: ja },
} as const satisfies Record<string, { name: string; texts: PageTexts }>;

export type Language = keyof typeof languages;
export const languageCodes = Object.keys(languages) as readonly Language[];

export type Values = Readonly<Record<string, string | number>>;
export type Translate = (key: TextKey, values?: Values) => string;

/** The first of the requested languages (BCP 47 tags, best first) that the page supports; otherwise English. */
export function languageFor(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const code = tag.toLowerCase().split('-', 1)[0];
    const existing = languageCodes.find((language) => language === code);
    if (existing !== undefined) return existing;
  }
  return 'en';
}

/** Texts of an application that replace the defaults, by language and name. */
export type OwnTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function translator(language: Language, own: OwnTexts = {}): Translate {
  const { texts } = languages[language];
  return (key, values = {}) =>
    (own[language]?.[key] ?? texts[key]).replace(/\{(\w+)\}/g, (whole, name: string) =>
      String(values[name] ?? whole),
    );
}
