// Entry point of the deployed operator; `--help` shows its options. The environment variable RELEASE selects the
// release. POD_NAMESPACE is the namespace of the operator, in which it also deploys. See the README.
import { sampleOperator } from './operator.js';
import { releases } from './release.js';

const { RELEASE: release = releases.at(-1)?.version ?? '' } = process.env;
const { POD_NAMESPACE: namespace = 'sample-system' } = process.env;

try {
  await sampleOperator({ release, namespace }).main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
