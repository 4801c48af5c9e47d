import type { ShownGraph } from '../../src/draw/arrange.ts';
import type { Size, View } from '../../src/page/view.ts';

interface Props {
  readonly graph: ShownGraph;
  readonly view: View;
  /** The size of the visible part. */
  readonly shown: Size;
  readonly found: ReadonlySet<string>;
  readonly onPlace: (x: number, y: number) => void;
}

/** The whole graph in a corner, with the part that is visible. The keys of the graph do the same. */
export function GraphMap({ graph, view, shown, found, onPlace }: Props) {
  const scale = Math.min(WIDTH / graph.width, HEIGHT / graph.height);
  const go = (event: PointerEvent) => {
    const { currentTarget } = event;
    if (event.buttons === 0 || !(currentTarget instanceof SVGElement)) return;
    const box = currentTarget.getBoundingClientRect();
    onPlace((event.clientX - box.left) / scale, (event.clientY - box.top) / scale);
    event.stopPropagation();
  };
  return (
    <svg
      class="graph-map"
      aria-hidden="true"
      width={graph.width * scale}
      height={graph.height * scale}
      viewBox={`0 0 ${graph.width} ${graph.height}`}
      onPointerDown={go}
      onPointerMove={go}
    >
      {graph.nodes.map(({ id, x, y, width, height, visits, agents }) => (
        <rect
          key={id}
          class={`place ${found.has(id) ? 'found' : agents.length > 0 ? 'here' : visits > 0 ? 'used' : ''}`}
          x={x - width / 2}
          y={y - height / 2}
          width={width}
          height={height}
        />
      ))}
      <rect
        class="seen"
        stroke-width={1.5 / scale}
        x={view.x - shown.width / 2}
        y={view.y - shown.height / 2}
        width={shown.width}
        height={shown.height}
      />
    </svg>
  );
}

const [WIDTH, HEIGHT] = [170, 130];
