/** What the site uses of highlight.js: its own declarations bring the types of browsers into every file. */
export interface Language {
  readonly name?: string;
}

declare const highlighter: {
  registerLanguage(name: string, language: () => Language): void;
  registerAliases(names: readonly string[], of: { readonly languageName: string }): void;
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals?: boolean },
  ): { readonly value: string };
  getLanguage(name: string): Language | undefined;
};
export default highlighter;
