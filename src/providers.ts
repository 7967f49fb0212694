import { readConfig } from '#app/config/config.ts';
import { testProviders } from '#app/tools/provider-test.ts';
import { problemsOf, tableOf } from '#fake-providers/report.ts';
import { CannotStart } from '#kernel/cannot-start.ts';

/** `[--json] file`: plays the definitions of the file, and prints each step and what is wrong. Exits 4 if one fails. */
const args = process.argv.slice(2);
const [file = ''] = args.filter((arg) => arg !== '--json');

try {
  const reports = await testProviders(readConfig(), file);
  const problems = problemsOf(reports);
  if (args.includes('--json')) {
    const entries = reports.map(({ definition: { name, auth_mode }, outcome }) => {
      return { name, auth_mode, steps: outcome };
    });
    console.log(JSON.stringify({ entries, problems }));
  } else {
    console.log(tableOf(reports));
    const verdict =
      problems.length === 0 ? 'Every declared step passed.' : ['What is wrong:', ...problems];
    console.log(`\n${[verdict].flat().join('\n  ')}`);
  }
  process.exit(problems.length === 0 ? 0 : 4);
} catch (error) {
  console.error(CannotStart.is(error) ? error.message : error);
  process.exit(1);
}
