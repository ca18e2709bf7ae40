import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bundleOf } from '../../manager/processes/bundle-of.js';
import { Script } from '../parseable/suite/script.js';

describe('the SampleConfig sample as a process', function () {
  this.timeout(60_000);

  it('runs its demo without a cluster, in plain lines, and ends with a summary', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      bundleOf(new URL('../../../samples/lifecycle/demo.ts', import.meta.url)),
    ]);
    const lines = stdout.split('\n').map((line) => line.trim());
    expect(lines).to.include.members([
      '✓ 1.0.0 is deployed  DeployCompleted',
      '- deleted Service sample-system/http-server-internal  DeleteResourceSuccess',
      '✓ Deployed 1.1.0  Available=True Progressing=False Degraded=False',
      '✓ nothing was changed',
      '✓ image nginx:1.29, 1 container  reverted',
      '- deleted Deployment sample-system/http-server  DeleteResourceSuccess',
      '✓ nothing is left',
      '· 3 x DeployCompleted',
      '· 1 x DowngradeRefused',
    ]);
    expect(stdout).not.to.match(/✗ (?!version)/);
    expect(stdout).not.to.include('\u001b');
    expect(stderr).to.equal('');
  });

  it('reports an invalid release, and exits with 1', async () => {
    const operator = new Script('lifecycle/main.ts', [], { RELEASE: '9.0' });
    expect(await operator.ends()).to.equal(1);
    expect(operator.output).to.match(/want 1\.0\.0, 1\.1\.0, 2\.0\.0/);
    expect(operator.output.trim().split('\n').length).to.be.at.most(3);
  });
});
