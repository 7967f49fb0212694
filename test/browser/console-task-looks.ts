import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { clippedIn } from './clipping.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { newcomerAt } from './console-newcomer.ts';
import { consoleTasks, nameConnection, type ConsoleTask } from './console-tasks.ts';
import { violationsOf } from './world.ts';

const clicksMax = 5;

/** What a page contains is checked in the first theme, what themes change in the other. */
const rulesOfThemes = { light: undefined, dark: ['color-contrast'] } as const;
type Theme = keyof typeof rulesOfThemes;
const themes = ['light', 'dark'] as const satisfies readonly Theme[];

interface Effort {
  readonly clicks: number;
  readonly seconds: number;
}

/**
 * Does each task from Home on, in a window of this size and in both themes: with few clicks and no id that nobody knows;
 * then nothing is cut off, axe accepts the page, and the browser's console is empty. Prints clicks and seconds.
 */
export function doesTasksAt(viewport: { readonly width: number; readonly height: number }): void {
  const efforts = new Map<string, Effort>();
  let world: CrmConsole;
  beforeAll(async () => {
    world = await openCrmConsole();
    await nameConnection(world);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    console.log(tableOf(efforts, viewport.width));
  });

  describe.each(themes)(`a newcomer at ${viewport.width} px, %s`, (theme) => {
    let opened: CrmConsole;
    beforeAll(async () => {
      opened = await world.anotherLook({ viewport, colorScheme: theme });
    });
    afterAll(() => opened.page.context().close());

    it.each(consoleTasks)('$title', async (task) => {
      const newcomer = newcomerAt(opened, `${viewport.width}-${theme}`);
      onTestFinished(() => task.undo?.(newcomer));
      await task.prepare?.(newcomer);
      opened.complaints.length = 0;
      const { page } = opened;
      await page.goto(`${opened.gateway.url}/console/env/dev`);
      await page.getByRole('heading', { level: 1, name: 'dev' }).waitFor();
      const start = performance.now();
      await task.run(newcomer);
      const clicks = newcomer.clicks();
      efforts.set(`${task.title} ${theme}`, {
        clicks,
        seconds: (performance.now() - start) / 1000,
      });
      if (task.isGuided !== true) expect(clicks).toBeLessThanOrEqual(clicksMax);
      expect(await clippedIn(page)).toEqual([]);
      expect(await violationsOf(page, rulesOfThemes[theme])).toEqual([]);
      expect(opened.complaints).toEqual([]);
      expect(takeUnread(), 'not read back').toEqual([]);
    });
  });
}

function tableOf(efforts: ReadonlyMap<string, Effort>, width: number): string {
  const cell = ({ title }: ConsoleTask, theme: Theme): string => {
    const effort = efforts.get(`${title} ${theme}`);
    if (effort === undefined) return ''.padEnd(17);
    const clicks = `${effort.clicks} click${effort.clicks === 1 ? '' : 's'}`;
    return `${clicks.padStart(8)}, ${effort.seconds.toFixed(1).padStart(4)} s `;
  };
  const rows = consoleTasks.map(
    (task) => `${task.title.padEnd(56)}${themes.map((theme) => cell(task, theme)).join('')}`,
  );
  const head = themes.map((theme) => `  ${theme} at ${width} px`.padEnd(17)).join('');
  return [''.padEnd(56) + head, ...rows].join('\n');
}
