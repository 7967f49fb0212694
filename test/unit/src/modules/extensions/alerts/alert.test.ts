import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { alert, type AlertCommand, type Alert } from '#modules/extensions/alerts/alert.ts';

const given = { environmentUid: 'env', kind: 'dead_letters' } as const;
const minutes = (count: number): number => count * 60_000;

/** The state after what is decided on the commands, one after the other. */
class Story {
  state: Alert | null = null;
  readonly notices: string[] = [];

  observe(count: number, at: number): this {
    const subjects = Array.from({ length: count }, (_, nth) => `s${nth}`);
    return this.decide({ type: 'Observe', ...given, count, subjects, at });
  }

  decide(command: AlertCommand): this {
    for (const event of alert.decide(command, this.state)) {
      this.state = alert.evolve(this.state, event);
      if (event.type !== 'NoticeIssued') continue;
      this.notices.push(`${event.notice.at / 60_000}: ${event.notice.state} ${event.notice.count}`);
    }
    return this;
  }
}

describe('an alert', () => {
  it('is silent while there is nothing to report', () => {
    expect(new Story().observe(0, 0).observe(0, minutes(1)).state).toBeNull();
  });

  it('is reported once, and its end once', () => {
    const story = new Story().observe(2, 0).observe(2, minutes(60)).observe(0, minutes(61));
    expect(story.observe(0, minutes(62)).notices).toEqual(['0: firing 2', '61: recovered 0']);
    expect(story.state).toMatchObject({ count: 0, since: minutes(61), noticedCount: 0 });
  });

  it('that grows is reported again, but not within the pause', () => {
    const story = new Story().observe(1, 0).observe(3, minutes(1)).observe(3, minutes(14));
    expect(story.notices).toEqual(['0: firing 1']);
    expect(story.observe(3, limits.alertPauseMs).notices).toEqual(['0: firing 1', '15: firing 3']);
    expect(story.state).toMatchObject({ since: 0 });
    // What shrinks is no news.
    expect(story.observe(2, minutes(40)).notices).toHaveLength(2);
  });

  it('that ends and comes back within the pause is reported when it is over', () => {
    const story = new Story().observe(1, 0).observe(0, minutes(1)).observe(1, minutes(2));
    expect(story.notices).toEqual(['0: firing 1', '1: recovered 0']);
    // Not reported: so its end is not, either.
    story.observe(0, minutes(3)).observe(1, minutes(4)).observe(1, minutes(16));
    expect(story.notices.slice(2)).toEqual(['16: firing 1']);
  });

  it('is sent again to those that have not accepted it, a few times', () => {
    const story = new Story().observe(1, 0);
    const tryOnce = (pending: readonly string[], of = 0) =>
      story.decide({ type: 'NoteTry', of, pending }).state?.notice;
    expect(tryOnce(['a'])).toMatchObject({ tries: 1, pending: ['a'] });
    // The outcome of an earlier notice.
    expect(tryOnce([], 5)).toMatchObject({ tries: 1 });
    for (let tries = 2; tries < limits.alertTriesMax; tries += 1) {
      expect(tryOnce(['a'])).toMatchObject({ tries });
    }
    expect(tryOnce(['a'])).toBeNull();
    expect(story.state).toMatchObject({ count: 1, noticedCount: 1 });
  });

  it('is closed once everybody has accepted it', () => {
    expect(new Story().observe(1, 0).decide({ type: 'NoteTry', of: 0, pending: [] }).state).toEqual(
      {
        ...given,
        count: 1,
        subjects: ['s0'],
        since: 0,
        noticedCount: 1,
        noticedAt: 0,
        notice: null,
      },
    );
  });
});
