/** Manifests that the commands of the session read with `-f -`, by name. */
export const manifests: Readonly<Record<string, string>> = {
  settings: `
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {app: shop}
data:
  door: red
  window: blue
`,
  'settings-green': `
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {app: shop}
data:
  door: green
`,
  'wrong-map': `
apiVersion: v1
kind: ConfigMap
metadata:
  name: wrong
data:
  door: {red: 1}
`,
  'unknown-field': `
apiVersion: v1
kind: ConfigMap
metadata:
  name: unknown
dta:
  door: red
`,
  web: `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: nginx
          image: nginx:1.27
          ports: [{containerPort: 80}]
`,
  'bad-deployment': `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: bad
spec:
  replicas: -1
  selector:
    matchLabels: {app: one}
  template:
    metadata:
      labels: {app: other}
    spec:
      containers:
        - name: Nginx
          image: ""
`,
  database: `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: database
spec:
  serviceName: database
  replicas: 2
  selector:
    matchLabels: {app: database}
  template:
    metadata:
      labels: {app: database}
    spec:
      containers:
        - name: postgres
          image: postgres:17
          volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 1Gi}}
`,
  agent: `
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
spec:
  selector:
    matchLabels: {app: agent}
  template:
    metadata:
      labels: {app: agent}
    spec:
      containers:
        - name: agent
          image: agent:1
`,
  crd: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shops.session.example.com
spec:
  group: session.example.com
  scope: Namespaced
  names: {kind: Shop, plural: shops, singular: shop, shortNames: [sh], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns:
        - {name: Doors, type: integer, jsonPath: .spec.doors}
        - {name: Phase, type: string, jsonPath: .status.phase}
        - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
      subresources:
        status: {}
        scale: {specReplicasPath: .spec.doors, statusReplicasPath: .status.doors}
      schema:
        openAPIV3Schema:
          type: object
          description: A shop with doors.
          required: [spec]
          properties:
            spec:
              type: object
              required: [doors]
              x-kubernetes-validations:
                - rule: "!has(self.color) || self.doors > 1 || self.color != 'red'"
                  message: a red shop needs two doors
              properties:
                doors: {type: integer, minimum: 1, maximum: 9, description: The number of doors.}
                color: {type: string, enum: [red, green], default: green}
                owner: {type: string, pattern: "^[a-z]+$", x-kubernetes-validations: [{rule: self == oldSelf, message: owner is immutable}]}
                tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
            status:
              type: object
              properties:
                phase: {type: string}
                doors: {type: integer}
`,
  shop: `
apiVersion: session.example.com/v1
kind: Shop
metadata:
  name: corner
spec:
  doors: 2
  owner: ann
`,
  'bad-shop': `
apiVersion: session.example.com/v1
kind: Shop
metadata:
  name: bad
spec:
  doors: 12
  color: blue
  owner: Ann
  windows: 3
`,
  'red-shop': `
apiVersion: session.example.com/v1
kind: Shop
metadata:
  name: red
spec:
  doors: 1
  color: red
`,
  limits: `
apiVersion: v1
kind: LimitRange
metadata:
  name: limits
spec:
  limits:
    - type: Container
      default: {cpu: 500m}
      defaultRequest: {cpu: 100m}
      max: {cpu: "1"}
`,
};
