/**
 * How much a test tries: little in `npm test`, much in `npm run test:full`. Files named `*.scaled.test.ts` run in both.
 */
export const cases = <Amount>(few: Amount, many: Amount): Amount =>
  process.env['INLAY_TEST_CASES'] === 'many' ? many : few
