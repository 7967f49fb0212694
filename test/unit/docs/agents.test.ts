import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toolDefinitions } from '#api/mcp/management/tools.ts';
import { commands } from '#cli/command-list.ts';

const docs = new URL('../../../docs/', import.meta.url);
const read = (page: string): string => readFileSync(new URL(page, docs), 'utf8');
const tools = new Set(toolDefinitions.map(({ name }) => name));
/** Verbs with which names of tools begin. */
const verbs = new Set([...tools].map((name) => name.split('_', 1)[0] ?? ''));

const toolsIn = (text: string): string[] =>
  [...text.matchAll(/`([a-z]+)_[a-z_]+`/g)]
    .filter(([, verb = '']) => verbs.has(verb))
    .map(([code]) => code.slice(1, -1));

describe('pages for agents', () => {
  it.each(['llms.txt', 'agents.md', 'agents/SKILL.md'])('%s: each link leads to a page', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map(
      ([, target = '']) => target,
    );
    expect(links.length).toBeGreaterThan(2);
    for (const link of links.filter((target) => !target.startsWith('https:'))) {
      expect(existsSync(new URL(link, new URL(page, docs))), link).toBe(true);
    }
  });

  it('name tools that exist, and the page names each', () => {
    for (const page of ['agents.md', 'agents/SKILL.md']) {
      for (const name of toolsIn(read(page))) expect(tools, page).toContain(name);
    }
    expect(new Set(toolsIn(read('agents.md')))).toEqual(tools);
    expect(toolsIn(read('agents/SKILL.md')).length).toBeGreaterThan(15);
  });

  it('name commands that exist', () => {
    const named = [...read('agents/SKILL.md').matchAll(/`svc ([a-z:-]+)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.length).toBeGreaterThan(4);
    const existing = commands.map(({ name }) => name);
    for (const name of named) expect(existing).toContain(name);
  });

  it('begin as a skill does', () => {
    expect(read('agents/SKILL.md')).toMatch(/^---\nname: [a-z-]+\ndescription: .{50,1024}\n---\n/);
  });

  it('follow a tool only by tools that exist', () => {
    for (const { name, next } of toolDefinitions) {
      const followers = [...next.matchAll(/\b([a-z]+)_[a-z_]+\b/g)]
        .filter(([found, verb = '']) => verbs.has(verb) && !next.includes(`\`${found}\``))
        .map(([found]) => found);
      for (const follower of followers) expect(tools, name).toContain(follower);
    }
  });
});
