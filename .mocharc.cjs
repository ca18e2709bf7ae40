const { availableParallelism } = require('node:os');

module.exports = {
  'node-option': ['import=tsx'],
  require: ['spec/property-seeds.ts', 'spec/unhandled-rejections.ts'],
  spec: [
    // The longest specs come first, so that no process runs one alone at the end.
    'spec/manager/manager-leaks.spec.ts',
    'spec/{lifecycle,builder,manager,cli,samples,testing,faults}/**/!(manager-leaks).spec.ts',
    'spec/!(lifecycle|builder|manager|cli|samples|testing|faults)/**/*.spec.ts',
    'spec/*.spec.ts',
  ],
  ignore: [
    'spec/cluster/**',
    'spec/browser/**',
    'spec/**/processes.spec.ts',
    'spec/**/deployed.spec.ts',
  ],
  'forbid-only': true,
  'forbid-pending': true,
  timeout: 30_000,
  reporter: 'dot',
  parallel: true,
  // Three on two cores: many specs wait for sockets and other processes. Each process needs about 400 MB.
  jobs: Math.min(8, Math.max(3, availableParallelism() - 1)),
};
