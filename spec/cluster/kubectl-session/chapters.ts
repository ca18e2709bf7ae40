/**
 * The commands of the session, one per line, by subject. Each chapter has a namespace of its own. `< NAME`
 * at the end passes a manifest as stdin. `~` at the start compares only the exit code, because the output
 * depends on time; `$` compares only the last line; `!` compares only the exit code, because the embedded
 * server words an error in its own way: a label selector with a syntax error, and a strategic patch that
 * changes the type of a value (the real server prints the patch as a Go map).
 */
export const chapters: Readonly<Record<string, string>> = {
  'ConfigMaps and Secrets': `
create configmap app --from-literal=door=red --from-literal=window=blue
create configmap app --from-literal=door=red
get configmap app
get configmap app -o yaml
get configmap app -o jsonpath={.data.door}
get configmap app -o jsonpath={.data.missing}
get configmaps -l tier -o name
get configmap app -o custom-columns=NAME:.metadata.name,DOOR:.data.door
get configmap app -o go-template={{.data.window}}
get configmap missing
get configmap missing --ignore-not-found
get secrets
get nothings
describe configmap app
label configmap app tier=front
label configmap app tier=back
label configmap app tier=back --overwrite
label configmap app tier-
label configmap app 'bad label=1'
annotate configmap app note=kept
annotate configmap app note-
get configmaps -l tier=front
!get configmaps -l 'door in (red'
get configmaps --field-selector metadata.name=app
get configmaps --field-selector data.door=red
get configmap app --show-labels
patch configmap app --type=merge -p {"data":{"door":"green"}}
patch configmap app --type=json -p [{"op":"test","path":"/data/door","value":"green"},{"op":"remove","path":"/data/window"}]
patch configmap app --type=json -p [{"op":"test","path":"/data/door","value":"red"}]
patch configmap app --type=json -p [{"op":"remove","path":"/data/nothing"}]
patch configmap app -p {"data":{"door":null}}
!patch configmap app -p {"data":{"door":7}}
patch configmap missing -p {"data":{}}
create secret generic login --from-literal=password=secret
get secret login -o jsonpath={.data.password}
describe secret login
patch secret login -p {"stringData":{"user":"ann"}}
get secret login -o jsonpath={.data}
patch secret login -p {"type":"kubernetes.io/tls"}
create secret docker-registry pull --docker-server=a.example --docker-username=u --docker-password=p
get secrets
create configmap 'Bad_Name' --from-literal=a=b
create configmap dry --from-literal=a=b --dry-run=server
create configmap dry --from-literal=a=b --dry-run=client -o yaml
get configmap dry
delete configmap app
delete configmap app
delete configmap app --ignore-not-found
delete secrets --all
`,
  applying: `
apply -f - < settings
apply -f - < settings
diff -f - < settings
diff -f - < settings-green
apply -f - --dry-run=server < settings-green
apply -f - < settings-green
get configmap settings -o jsonpath={.data}
apply view-last-applied configmap settings
apply -f - < wrong-map
apply -f - < unknown-field
apply -f - --validate=false < unknown-field
create -f - --validate=warn < unknown-field
replace -f - < settings
replace -f - < bad-deployment
get configmap settings -o jsonpath={.data}
apply --server-side --field-manager=one -f - < settings
apply --server-side --field-manager=two -f - < settings-green
apply --server-side --field-manager=two --force-conflicts -f - < settings-green
get configmap settings -o jsonpath={.data}
get configmap settings -o yaml --show-managed-fields
apply --server-side -f - < settings
delete -f - < settings
delete -f - < settings
apply -f - < bad-deployment
create -f - < bad-deployment
`,
  Deployments: `
create deployment small --image=nginx --replicas=1
apply -f - < web
$rollout status deployment/web
get deployment web
get deployment web -o wide
get deployment web -o jsonpath={.status.readyReplicas}/{.status.observedGeneration}
get replicasets -l app=web
get pods -l app=web
get pods -l app=web -o custom-columns=PHASE:.status.phase,IMAGE:.spec.containers[0].image
get pods -l app=web --field-selector status.phase=Pending
scale deployment web --replicas=3
scale deployment web --replicas=1 --current-replicas=9
~wait deployment/web --for=jsonpath={.status.readyReplicas}=3 --timeout=60s
get deployment web
set image deployment/web nginx=nginx:1.28
$rollout status deployment/web
set image deployment/web nothing=nginx:1.28
set env deployment/web DOOR=red
$rollout status deployment/web
set resources deployment web --requests=cpu=10m
$rollout status deployment/web
rollout history deployment/web
rollout history deployment/web --revision=2
rollout undo deployment/web --to-revision=1
$rollout status deployment/web
get deployment web -o jsonpath={.spec.template.spec.containers[0].image}
rollout pause deployment/web
rollout pause deployment/web
rollout resume deployment/web
rollout undo deployment/web --to-revision=99
get replicasets -l app=web --sort-by=.metadata.annotations.deployment\\.kubernetes\\.io/revision
annotate deployment web kubernetes.io/change-cause=tried
autoscale deployment web --min=1 --max=3 --cpu-percent=80
get hpa web -o jsonpath={.spec}
patch deployment web -p {"spec":{"selector":{"matchLabels":{"app":"other"}}}}
patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"nginx","env":[{"name":"DOOR","value":"blue"}]}]}}}}
$rollout status deployment/web
get deployment web -o jsonpath={.spec.template.spec.containers[0].env}
get pods -l app=nothing
delete deployment web --cascade=foreground
wait deployment/web --for=delete --timeout=60s
get deployment web
~wait pods -l app=web --for=delete --timeout=60s
`,
  'StatefulSets and DaemonSets': `
apply -f - < database
$rollout status statefulset/database
get statefulset database
get statefulset database -o wide
get controllerrevisions -l app=database -o custom-columns=REVISION:.revision,OWNER:.metadata.ownerReferences[0].name
get pods -l app=database -o custom-columns=NAME:.metadata.name,PHASE:.status.phase
get pvc -o custom-columns=NAME:.metadata.name,PHASE:.status.phase,SIZE:.spec.resources.requests.storage
scale statefulset database --replicas=1
~wait statefulset/database --for=jsonpath={.status.replicas}=1 --timeout=60s
get pvc -o name
patch statefulset database -p {"spec":{"serviceName":"other"}}
rollout restart statefulset/database
$rollout status statefulset/database
rollout history statefulset/database
delete statefulset database
apply -f - < agent
$rollout status daemonset/agent
get daemonset agent -o jsonpath={.status.numberReady}
set image daemonset/agent agent=agent:2
$rollout status daemonset/agent
rollout history daemonset/agent
delete daemonset agent
`,
  'Services and Ingresses': `
create deployment front --image=nginx
expose deployment front --port=80 --target-port=8080
expose deployment front --port=80
get service front
get service front -o jsonpath={.spec.ports}
create service nodeport door --tcp=80:8080
create service clusterip none --clusterip=None --tcp=5432
create service externalname far --external-name=far.example.com
get services
patch service front -p {"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":9090}]}}
patch service front -p {"spec":{"clusterIP":"1.2.3.4"}}
patch service front --type=merge -p {"spec":{"ports":[{"port":0}]}}
create ingress way --rule=shop.example.com/*=front:80
get ingress way
describe ingress way
create ingress way2 --rule=shop.example.com/a=
get endpointslices -l kubernetes.io/service-name=none -o jsonpath={.items[*].addressType}
create ingress tls --rule=shop.example.com/*=front:80,tls=cert --class=nginx
get ingress
delete service front door none far
`,
  'Jobs and CronJobs': `
create job pi --image=perl -- perl -e 'print 1'
wait job/pi --for=condition=complete --timeout=60s
get job pi -o jsonpath={.status.succeeded}
patch job pi -p {"spec":{"completions":3}}
create cronjob nightly --image=busybox --schedule='0 3 * * *' -- true
get cronjob nightly
create cronjob wrong --image=busybox --schedule='0 99 * * *' -- true
patch cronjob nightly -p {"spec":{"suspend":true}}
create job by-hand --from=cronjob/nightly
wait job/by-hand --for=condition=complete --timeout=60s
get cronjob nightly -o wide
get jobs -o custom-columns=NAME:.metadata.name,OWNER:.metadata.ownerReferences[0].kind
delete cronjob nightly
delete job pi
`,
  permissions: `
create serviceaccount reader
create role reader --verb=get,list --resource=configmaps
create role reader --verb=fly --resource=configmaps
create role nothing --verb=get --resource=nothings
create rolebinding reader --role=reader --serviceaccount=NAMESPACE:reader
get rolebinding reader -o wide
get roles,rolebindings,serviceaccounts
get clusterrole system:basic-user
describe role reader
describe rolebinding reader
auth can-i get configmaps --as=system:serviceaccount:NAMESPACE:reader
auth can-i delete configmaps --as=system:serviceaccount:NAMESPACE:reader
auth can-i get nothings
get configmaps --as=system:serviceaccount:NAMESPACE:reader -l app=none
get secrets --as=system:serviceaccount:NAMESPACE:reader
delete configmap kube-root-ca.crt --as=system:serviceaccount:NAMESPACE:reader
patch rolebinding reader -p {"roleRef":{"name":"other"}}
auth whoami --as=ann --as-group=shop
create clusterrole NAMESPACE --verb=get --resource=nodes
get clusterrole NAMESPACE -o jsonpath={.rules}
delete clusterrole NAMESPACE
`,
  'custom resources': `
apply -f - < crd
wait crd/shops.session.example.com --for=condition=Established --timeout=30s
apply -f - < shop
get shops
get sh corner -o yaml
get shop corner -o jsonpath={.spec.color}
apply -f - < bad-shop
create -f - --validate=false < bad-shop
apply -f - < red-shop
patch shop corner --type=merge -p {"spec":{"owner":"bob"}}
patch shop corner -p {"spec":{"doors":3}}
patch shop corner --type=merge -p {"spec":{"tags":["a","a"]}}
patch shop corner --type=merge --subresource=status -p {"status":{"phase":"open","doors":2}}
get shop corner
get shop corner --subresource=status -o jsonpath={.status}
scale shop corner --replicas=4
get shop corner -o jsonpath={.spec.doors}/{.metadata.generation}
scale shop corner --replicas=20
explain shop.spec
explain shop.spec.doors
explain shop.spec.nothing
get all -o name
describe crd shops.session.example.com
patch crd shops.session.example.com --type=merge -p {"spec":{"scope":"Cluster"}}
delete shop corner
delete crd shops.session.example.com
get shops
`,
  'quotas and limits': `
create quota few --hard=secrets=2,pods=1,count/deployments.apps=1
create deployment one --image=nginx --replicas=0
create deployment two --image=nginx --replicas=0
apply -f - < limits
run one --image=nginx
get pod one -o jsonpath={.spec.containers[0].resources}
run two --image=nginx
create secret generic a --from-literal=a=b
create secret generic b --from-literal=a=b
create secret generic c --from-literal=a=b
describe limits limits
get limitranges
get quota few
describe quota few
run big --image=nginx --overrides={"spec":{"containers":[{"name":"big","image":"nginx","resources":{"limits":{"cpu":"2"}}}]}}
create poddisruptionbudget keep --selector=run=one --min-available=1
get pdb keep -o jsonpath={.spec}
create priorityclass NAMESPACE --value=1000 --description=session
get priorityclass NAMESPACE
create priorityclass NAMESPACE-2 --value=3000000000
delete priorityclass NAMESPACE
delete pod one --grace-period=0 --force
`,
  'discovery and explanations': `
api-resources -o wide --api-group=apps
api-resources --api-group=batch
explain pod.spec.containers.livenessProbe
explain deployment.spec.strategy
explain configmap --recursive
explain cronjob.spec.schedule
explain pod.spec.nothing
get --raw /apis/apps/v1/nothing
get --raw /nothing
get namespace NAMESPACE -o jsonpath={.status.phase}
label namespace NAMESPACE team=shop
get namespace NAMESPACE --show-labels
create namespace NAMESPACE
get pods -n nowhere
create configmap a --from-literal=a=b -n nowhere
`,
};
