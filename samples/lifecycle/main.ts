// The operator alone, as one deploys it: `--help` shows its options. The variables RELEASE and
// POD_NAMESPACE say which release it is, and where it is and deploys; see the README.
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
