// controller-runtime, whose own tests run against the embedded and the real API server. See suites.ts.
module operator-builder/spec/cluster/controller-runtime

go 1.26.0

require sigs.k8s.io/controller-runtime v0.24.1
