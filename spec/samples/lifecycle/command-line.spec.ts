import { expect } from 'chai';
import { readCommandLine } from '../../../samples/lifecycle/command-line.js';

describe('The command line of the SampleConfig operator', () => {
  it('is the newest release, in the namespace of its pod, and serves nothing, by default', () => {
    expect(readCommandLine([], { POD_NAMESPACE: 'shop' })).to.deep.equal({
      ...{ help: false, kubeconfig: undefined, namespace: 'shop', release: '2.0.0' },
      ...{ logLevel: 'info', healthPort: undefined, metricsPort: undefined, leaderElect: false },
    });
  });

  it('takes each option', () => {
    const args = ['--kubeconfig=f', '--namespace=a', '--release=1.1.0', '--log-level=warn'];
    const ports = ['--health-port=1', '--metrics-port=65535', '--leader-elect'];
    expect(readCommandLine([...args, ...ports], { POD_NAMESPACE: 'shop' })).to.deep.equal({
      ...{ help: false, kubeconfig: 'f', namespace: 'a', release: '1.1.0' },
      ...{ logLevel: 'warn', healthPort: 1, metricsPort: 65_535, leaderElect: true },
    });
    expect(readCommandLine(['--help'], {}).help).to.equal(true);
  });

  const wrong: readonly [string, string[], RegExp][] = [
    ['no namespace', [], /--namespace: must not be empty/],
    ['a namespace that is none', ['--namespace=a.b'], /--namespace: "a\.b"/],
    ['a release that is not there', ['--namespace=a', '--release=9.0'], /want 1\.0\.0, 1\.1\.0, 2/],
    ['an unknown level', ['--namespace=a', '--log-level=loud'], /want debug, info, warn, error/],
    ['a port that is none', ['--namespace=a', '--health-port=http'], /want 0 to 65535/],
    ['a port that is too high', ['--namespace=a', '--metrics-port=65536'], /want 0 to 65535/],
    ['an unknown option', ['--frobnicate'], /--frobnicate/],
  ];
  for (const [title, args, message] of wrong) {
    it(`refuses ${title}`, () => {
      expect(() => readCommandLine(args, {})).to.throw(TypeError, message);
    });
  }
});
