import { describe, expect, it } from 'vitest';
import { where } from '#tables/where.ts';

describe('the conditions of a query', () => {
  it('are those that have a value, with their parameters', () => {
    const { sql, params } = where({
      'id = {id:String}': 'a',
      'kind IN {kinds:Array(String)}': [],
      'at >= {from:Int64}': undefined,
      'at <= {to:Int64}': 0,
      '(at, id) < ({at:Int64}, {last:String})': { at: 5, last: 'b' },
      "action != 'progress'": {},
    });
    expect(sql).toBe(
      "id = {id:String} AND at <= {to:Int64} AND (at, id) < ({at:Int64}, {last:String}) AND action != 'progress'",
    );
    expect(params).toEqual({ id: 'a', to: 0, at: 5, last: 'b' });
  });

  it('hold for every row when no value is given', () => {
    expect(where({ 'id = {id:String}': null })).toEqual({ sql: '1', params: {} });
  });
});
