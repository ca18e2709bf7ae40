import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bundleOf } from '../../manager/processes/bundle-of.js';

const program = new URL('../../../samples/resource-chain/main.ts', import.meta.url);

describe('the demo of the resource-chain sample as a process', function () {
  this.timeout(60_000);

  it('prints how a site is created, changed and deleted, in plain lines, and ends by itself', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [bundleOf(program)]);
    expect(stdout).to.match(/\+ Deployment mailer\n/);
    expect(stdout).to.include('2/2 Deployments ready');
    expect(stdout).to.match(/- Deployment mailer\n/);
    expect(stdout).to.match(/· Deployment web {2}as it was\n/);
    expect(stdout).to.include('3/3 Deployments ready, and the 2 pods of web run on');
    expect(stdout).to.include('held by operator-builder.io/site-operator');
    expect(stdout).to.match(/✓ nothing is left\n$/);
    expect(stdout).not.to.include('\u001b');
    // Standard error would contain the warnings and errors of the operator.
    expect(stderr).to.equal('');
  });

  it('rejects any option', async () => {
    const args = [bundleOf(program), '--fast'];
    const ended = await promisify(execFile)(process.execPath, args).catch(
      (error: unknown) => error,
    );
    expect(ended).to.have.property('code', 1);
    expect(ended).to.have.property('stderr', "Unknown option '--fast'\n");
  });
});
