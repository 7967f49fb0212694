/** What readers of lists, pairs, quotes, numbers, white space, addresses and secrets look at again and again. */
export const hostileUnits: readonly string[] = [
  ...[
    ' ',
    '\t',
    ',',
    ';',
    '=',
    ':',
    '.',
    '/',
    '-',
    '+',
    '&',
    '%',
    '"',
    "'",
    '<',
    '[',
    '{',
    '(',
    '@',
  ],
  ...['a', '0', '1', '9', '\u00e9', '\ufffd'],
  ...[
    ' ,',
    '; ',
    'a,',
    'a;',
    'a=',
    'a ',
    '0.',
    '%2',
    '//',
    '":',
    'q=0,',
    ';q=0.',
    '${',
    '${a}',
    '||',
  ],
  ...['token', 'tokena', 'token=', 'bearer ', 'secret"', '://', 'a@', 'v1=', '\r\n', 'a\r\n'],
];

/** The unit as often as it fits, and a part of it. */
export const repeated = (unit: string, chars: number): string =>
  unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
