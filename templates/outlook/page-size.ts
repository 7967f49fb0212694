/** Without it a page has ten messages; the documentation names no maximum. */
const pageSize = 500;

export const pageSizeHeaders = { prefer: `odata.maxpagesize=${pageSize}` };
