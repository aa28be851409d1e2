package typescript

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// ordinary is TypeScript as people write it, about 1 KB.
const ordinary = `interface Order<T extends string = string> { id: number; kind: T; lines: Line[]; note?: string }
type Line = { sku: string, count: number, price: number }
enum Status { Open, Paid = 5, Sent }

const byId = new Map<number, Order>();

export class Shop<T extends Order> {
  private readonly orders: T[] = [];
  constructor(public name: string, protected rate: number = 0.2) {}

  add(order: T, status: Status = Status.Open): this {
    this.orders.push(order);
    byId.set(order.id, order as Order);
    return this;
  }

  total(pick?: (line: Line) => boolean): number {
    let sum = 0;
    for (const { lines } of this.orders) {
      for (let i = 0; i < lines.length; i++) {
        if (pick && !pick(lines[i]!)) continue;
        sum += lines[i].count * lines[i].price; // without tax
      }
    }
    return Math.round(sum * (1 + this.rate) * 100) / 100;
  }
}

const shop = new Shop<Order<"web">>("a", 0.1);
shop.add({ id: 1, kind: "web", lines: [{ sku: "x", count: 2, price: 9.99 }] });
console.log(` + "`total ${shop.total((l): l is Line => l.count > 1)}`" + `);
`

// copies returns about n bytes of ordinary, each copy in a block of its own.
func copies(n int) string {
	block := "{\n" + strings.Replace(ordinary, "export ", "", 1) + "}\n"
	return strings.Repeat(block, max(1, n/len(block)))
}

func BenchmarkErase(b *testing.B) {
	for _, size := range []int{1, 50, 500} {
		source := copies(size << 10)
		b.Run(fmt.Sprintf("%dKB", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				if _, err := Erase(context.Background(), source); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%dKB/esbuild", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				if r := api.Transform(source, api.TransformOptions{Loader: api.LoaderTS, Target: api.ESNext, Sourcemap: api.SourceMapExternal}); len(r.Errors) > 0 {
					b.Fatal(r.Errors[0].Text)
				}
			}
		})
	}
	b.Run("1+1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Erase(context.Background(), "1+1")
		}
	})
}
