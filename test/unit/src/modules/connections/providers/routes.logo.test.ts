import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { logoSvg } from '#modules/connections/providers/routes.ts';
import { aProvider } from '#test/support/worlds/control.ts';

const file = new URL(
  '../../../../../../src/modules/connections/providers/logos.json',
  import.meta.url,
);

describe('a logo', () => {
  it('is the mark of the brand where a free one is known', () => {
    const github = logoSvg(aProvider({ name: 'github', display_name: 'GitHub' }));
    expect(github).toContain('<title>GitHub</title>');
    expect(github).toMatch(/fill="#181717"\/><path [^>]*fill="#fff"/);
    expect(github).not.toContain('<text');
  });

  it('is dark on a light color', () => {
    const snapchat = logoSvg(aProvider({ name: 'snapchat', display_name: 'Snapchat' }));
    expect(snapchat).toMatch(/<path [^>]*fill="#000"/);
  });

  it.each([
    ['Acme & Sons', '<title>Acme &amp; Sons</title>', '>AS</text>'],
    ['<script>', '<title>&lt;script&gt;</title>', '>S</text>'],
    ['Émile zola corp', '<title>Émile zola corp</title>', '>ÉZ</text>'],
    ['日本', '<title>日本</title>', '>日</text>'],
  ])('of %s without a mark has its initials', (display_name, title, initials) => {
    const svg = logoSvg(aProvider({ name: 'own', display_name }));
    expect(svg).toContain(title);
    expect(svg).toContain(initials);
  });

  it('is that of the definition, where it has one', () => {
    const logo = '<svg viewBox="0 0 4 4"><path d="M0 0h4v4z"/></svg>';
    expect(logoSvg(aProvider({ name: 'github', logo }))).toBe(logo);
  });

  it('belongs to entries of the catalog only', () => {
    const { icons } = JSON.parse(readFileSync(file, 'utf8')) as {
      icons: Record<string, { providers: string[] }>;
    };
    const catalogue = loadCatalogue({ overlayPath: null });
    const named = Object.values(icons).flatMap(({ providers }) => providers);
    expect(named.filter((name) => catalogue.find(name) === null)).toEqual([]);
    expect(new Set(named).size).toBe(named.length);
  });
});
