"""What each language defines: a source, and each definition in it as `line-last kind name`, with its containers."""

import pytest

from codec.agent.index.extracting import _definitions, extracted
from codec.agent.index.languages import language_of

CASES = {
    "a.py": (
        r'''import os
X: int = 1
a, b = 1, 2
lower = 3
type Alias = int

@decorated
@twice(1)
async def outer(x):
    """Doc."""
    inside = 1

    class Inner:
        y = 2

        def method(self):
            def deepest(): pass
            return deepest
    return Inner


if True:
    try:
        def guarded(): ...
    except Exception:
        class Other: ...


class Base(object):
    field: int
    CONST = 1

    @property
    def value(self): return 1
''',
        """
        2-2 constant X
        3-3 variable a
        3-3 variable b
        4-4 variable lower
        5-5 type Alias
        9-19 function outer
        13-18 class outer.Inner
        14-14 variable outer.Inner.y
        16-18 method outer.Inner.method
        17-17 function outer.Inner.method.deepest
        24-24 function guarded
        26-26 class Other
        29-34 class Base
        30-30 variable Base.field
        31-31 constant Base.CONST
        34-34 method Base.value
        """,
    ),
    "a.js": (
        r"""export default class Socket extends Base {
  #secret = 1;
  static make() { return new Socket(); }
  handler = () => { this.x(); };
  get open() { return true; }
}
export const add = (a, b) => a + b, LIMIT = 10;
export async function load() {
  function inner() {}
  const local = 1;
}
const api = {
  get(path) { return path; },
  post: async (path) => path,
  nested: { deep: function () {} },
};
exports.close = function () {};
Socket.prototype.send = function send(data) {};
(function () { function hidden() {} })();
describe("x", () => { it("y", () => { function helper() {} }); });
function* gen() {}
const { a, b } = require("x");
""",
        """
        1-6 class Socket
        2-2 property Socket.secret
        3-3 method Socket.make
        4-4 method Socket.handler
        5-5 method Socket.open
        7-7 function add
        7-7 constant LIMIT
        8-11 function load
        9-9 function load.inner
        12-16 variable api
        13-13 method api.get
        14-14 method api.post
        15-15 method api.deep
        17-17 function close
        18-18 method Socket.send
        19-19 function hidden
        20-20 function helper
        21-21 function gen
        """,
    ),
    "b.js": (
        r"""app.routes = {
  list(request) {},
  one: () => 1,
  limit: 3,
};
exports.all = wrap(() => {
  function helper() {}
});
[first.x] = [function () { class Inside {} }];
total.count += 1;
""",
        """
        2-2 method app.list
        3-3 method app.one
        7-7 function helper
        9-9 class Inside
        """,
    ),
    "a.ts": (
        r"""export interface Point<T> { x: number; move(by: T): void }
export type Name = string | number;
export enum Colour { Red, Green = 2 }
declare module "m" { export function f(): void }
namespace A.B { export const c = 1 }
abstract class Shape { abstract area(): number; private size: number = 1; constructor(readonly x: number) { } }
export function over(a: string): void;
export const useThing = <T,>(x: T): T => { return x; };
declare const VERSION: string;
""",
        """
        1-1 interface Point
        1-1 property Point.x
        1-1 method Point.move
        2-2 type Name
        3-3 enum Colour
        3-3 constant Colour.Red
        3-3 constant Colour.Green
        4-4 namespace m
        4-4 function m.f
        5-5 namespace A.B
        5-5 variable A.B.c
        6-6 class Shape
        6-6 method Shape.area
        6-6 property Shape.size
        6-6 method Shape.constructor
        6-6 property Shape.x
        7-7 function over
        8-8 function useThing
        9-9 constant VERSION
        """,
    ),
    "a.go": (
        r"""package main

import ("fmt"; x "a.b/c")

const (
	A = iota
	B
)
var one, two = 1, 2
type Server struct { addr string }
type Handler interface { Serve(w int) error }
type ID = string
func (s *Server) Close() error { return nil }
func (l List[T]) Len() int { return 0 }
func New[T any](x T) *Server { return nil }
""",
        """
        6-6 constant A
        7-7 constant B
        9-9 variable one
        9-9 variable two
        10-10 struct Server
        11-11 interface Handler
        11-11 method Handler.Serve
        12-12 type ID
        13-13 method Server.Close
        14-14 method List.Len
        15-15 function New
        """,
    ),
    "a.rs": (
        r"""use crate::a::{b, c::d};
mod inner { pub fn f() {} }
pub struct Point<T> { x: T }
enum E { A, B(i32) }
impl<T> Display for Point<T> { fn fmt(&self) { fn nested() {} } const N: u8 = 1; }
trait Shape { fn area(&self) -> f64; fn name(&self) -> String { String::new() } type Out; }
macro_rules! mac { () => {} }
const X: i32 = 1; static Y: i32 = 2; type T = u8;
#[test]
pub(crate) async fn test_it() {}
""",
        """
        2-2 module inner
        2-2 function inner.f
        3-3 struct Point
        4-4 enum E
        4-4 constant E.A
        4-4 constant E.B
        5-5 method Point.fmt
        5-5 constant Point.N
        5-5 function Point.fmt.nested
        6-6 trait Shape
        6-6 method Shape.area
        6-6 method Shape.name
        6-6 type Shape.Out
        7-7 macro mac
        8-8 constant X
        8-8 constant Y
        8-8 type T
        10-10 function test_it
        """,
    ),
    "A.java": (
        r"""package a.b;
import a.b.C;
@Service
public class A<T> extends B {
  private static final int MAX = 1;
  int x, y;
  public A() {}
  @Override
  public <R> R run(int a) { class Local {} return null; }
  enum Colour { RED, GREEN { void f() {} }; void paint() {} }
  interface Inner { void call(); }
  record P(int x) { P { } }
  @interface Ann { int value(); }
}
""",
        """
        4-14 class A
        5-5 constant A.MAX
        6-6 variable A.x
        6-6 variable A.y
        7-7 constructor A.A
        9-9 method A.run
        9-9 class A.run.Local
        10-10 enum A.Colour
        10-10 constant A.Colour.RED
        10-10 constant A.Colour.GREEN
        10-10 method A.Colour.paint
        10-10 method A.Colour.GREEN.f
        11-11 interface A.Inner
        11-11 method A.Inner.call
        12-12 record A.P
        12-12 constructor A.P.P
        13-13 interface A.Ann
        13-13 method A.Ann.value
        """,
    ),
    "a.c": (
        r"""#include <stdio.h>
#define MAX(a, b) ((a) > (b))
#define SIZE 1
struct point { int x; };
typedef struct { int a; } pair_t;
typedef int (*callback)(void);
typedef struct node { struct node *next; } node;
enum colour { RED, GREEN };
static int counter, *pointer;
int (*fp)(int);
const char *names[] = {"a"};
int f(int a);
static char **
make_names(int count)
{
  int local;
  return 0;
}
#ifdef X
void only_if(void) {}
#endif
extern "C" { void ext(void); }
""",
        """
        2-2 macro MAX
        3-3 macro SIZE
        4-4 struct point
        5-5 type pair_t
        6-6 type callback
        7-7 type node
        7-7 struct node
        8-8 enum colour
        8-8 constant colour.RED
        8-8 constant colour.GREEN
        9-9 variable counter
        9-9 variable pointer
        10-10 variable fp
        11-11 variable names
        12-12 function f
        14-18 function make_names
        20-20 function only_if
        22-22 function ext
        """,
    ),
    "a.cpp": (
        r"""namespace a::b {
template <typename T>
class Stack : public Base {
 public:
  Stack();
  ~Stack() {}
  void push(T x) { }
  int size() const;
  bool operator==(const Stack& o) const;
  int field;
  enum class Kind { A, B };
  using value_type = T;
};
void Stack<int>::pop() {}
a::b::Stack::Stack() {}
auto lambda = [](int x) { return x; };
}
std::ostream& operator<<(std::ostream& o, int x) { return o; }
template <class T> T max(T a, T b) { return a; }
""",
        """
        1-17 namespace a::b
        3-13 class a.b.Stack
        5-5 method a.b.Stack.Stack
        6-6 method a.b.Stack.~Stack
        7-7 method a.b.Stack.push
        8-8 method a.b.Stack.size
        9-9 method a.b.Stack.operator==
        11-11 enum a.b.Stack.Kind
        11-11 constant a.b.Stack.Kind.A
        11-11 constant a.b.Stack.Kind.B
        12-12 type a.b.Stack.value_type
        14-14 method a.b.Stack.pop
        15-15 method a.b.Stack.Stack
        16-16 variable a.b.lambda
        18-18 function operator<<
        19-19 function max
        """,
    ),
    "a.cs": (
        r"""using System;
namespace A.B;
public class C : D {
  public const int Max = 1;
  private int x, y;
  public string Name { get; set; }
  public event Action Done;
  public C() {}
  ~C() {}
  public async Task<int> Run<T>(int a) { int Local() { return 1; } return Local(); }
  public int Short => 1;
  enum E { X, Y }
  record R(int A);
  interface I { void M(); }
  struct S {}
  delegate void Del(int x);
}
""",
        """
        2-2 namespace A.B
        3-17 class A.B.C
        4-4 constant A.B.C.Max
        5-5 variable A.B.C.x
        5-5 variable A.B.C.y
        6-6 property A.B.C.Name
        7-7 variable A.B.C.Done
        8-8 constructor A.B.C.C
        9-9 method A.B.C.C
        10-10 method A.B.C.Run
        10-10 function A.B.C.Run.Local
        11-11 property A.B.C.Short
        12-12 enum A.B.C.E
        12-12 constant A.B.C.E.X
        12-12 constant A.B.C.E.Y
        13-13 record A.B.C.R
        14-14 interface A.B.C.I
        14-14 method A.B.C.I.M
        15-15 struct A.B.C.S
        16-16 type A.B.C.Del
        """,
    ),
    "b.cs": (
        r"""namespace A.B;
#if DEBUG
class C { class D { void M() {} } }
#else
static class E { public static readonly int One = 1, Two = 2; }
#endif
""",
        """
        1-1 namespace A.B
        3-3 class A.B.C
        3-3 class A.B.C.D
        3-3 method A.B.C.D.M
        5-5 class A.B.E
        5-5 constant A.B.E.One
        5-5 constant A.B.E.Two
        """,
    ),
    "a.rb": (
        r"""module Outer
  class Inner < Base
    LIMIT = 1
    attr_accessor :name, :age
    def self.build(x) = x
    class << self
      def open; end
    end
    private def hidden?; end
    def []=(k, v); end
    alias old hidden?
  end
  Point = Struct.new(:x) do
    def dist; end
  end
end
RSpec.describe Foo do
  def helper; end
end
""",
        """
        1-16 class Outer
        2-12 class Outer.Inner
        3-3 constant Outer.Inner.LIMIT
        4-4 property Outer.Inner.name
        4-4 property Outer.Inner.age
        5-5 method Outer.Inner.build
        7-7 method Outer.Inner.open
        9-9 method Outer.Inner.hidden?
        10-10 method Outer.Inner.[]=
        11-11 method Outer.Inner.old
        13-15 constant Outer.Point
        14-14 method Outer.Point.dist
        18-18 function helper
        """,
    ),
    "a.php": (
        r"""<?php
namespace App\Http;
use App\Model\User;
const LIMIT = 1;
interface I { public function run(): void; }
trait T { private $x = 1; }
abstract class Controller extends Base implements I {
  public const A = 1;
  protected ?string $name, $other;
  public function __construct(private int $id) {}
  public static function make(): self { return new self(1); }
}
enum Suit: string { case Hearts = 'H'; }
function helper($a) { function inner() {} }
if (!function_exists('x')) { function x() {} }
""",
        """
        2-2 namespace App\\Http
        4-4 constant App.Http.LIMIT
        5-5 interface App.Http.I
        5-5 method App.Http.I.run
        6-6 trait App.Http.T
        6-6 property App.Http.T.x
        7-12 class App.Http.Controller
        8-8 constant App.Http.Controller.A
        9-9 property App.Http.Controller.name
        9-9 property App.Http.Controller.other
        10-10 method App.Http.Controller.__construct
        10-10 property App.Http.Controller.id
        11-11 method App.Http.Controller.make
        13-13 enum App.Http.Suit
        13-13 constant App.Http.Suit.Hearts
        14-14 function App.Http.helper
        14-14 function App.Http.helper.inner
        15-15 function App.Http.x
        """,
    ),
    "a.css": (
        r""":root { --main: red; }
.btn, #id > a:hover { color: red }
@media (max-width: 1px) { .small { x: y } }
@keyframes spin { from { } to { } }
""",
        """
        1-1 selector :root
        1-1 variable :root.--main
        2-2 selector .btn
        2-2 selector #id > a:hover
        3-3 selector .small
        4-4 keyframes spin
        """,
    ),
    "a.json": (
        r"""{"name": "x", "scripts": {"build": "b", "test": {"a": 1}}, "list": [{"q": 1}]}""",
        """
        1-1 key name
        1-1 key scripts
        1-1 key list
        1-1 key scripts.build
        1-1 key scripts.test
        """,
    ),
    "a.sh": (
        r"""#!/bin/bash
export PATH_X=1
NAME=x
function one { echo; }
two() { local a=1; three() { :; }; }
if true; then four() { :; }; fi
readonly LIMIT=3
""",
        """
        2-2 constant PATH_X
        3-3 constant NAME
        4-4 function one
        5-5 function two
        5-5 function two.three
        6-6 function four
        7-7 constant LIMIT
        """,
    ),
    "a.html": (
        r"""<div id="main"><my-element a></my-element></div>
<p id=other>""",
        """
        1-1 id main
        1-1 element my-element
        2-2 id other
        """,
    ),
    "a.md": (
        r"""# Title
text
## Part `x`
```
# no
```
### Deep
## Other #
Under
-----
""",
        """
        1-11 heading Title
        3-7 heading Title.Part `x`
        7-7 heading Title.Part `x`.Deep
        8-11 heading Title.Other
        """,
    ),
    "a.rst": (
        r"""=====
Title
=====

Part
----

x

Sub
~~~
Part two
--------
""",
        """
        2-14 heading Title
        5-11 heading Title.Part
        10-11 heading Title.Part.Sub
        12-14 heading Title.Part two
        """,
    ),
    "b.py": (
        r"""first, (second, *rest) = [third, fourth] = values
x = y = 1
module.attribute = TABLE["key"] = 2
type Pairs[K] = list[K]
""",
        """
        1-1 variable first
        1-1 variable second
        1-1 variable rest
        1-1 variable third
        1-1 variable fourth
        2-2 variable x
        2-2 variable y
        4-4 type Pairs
        """,
    ),
    "b.ts": (
        r"""class Other {
  load() {}
  keep() {}
}
class Repo {
  constructor(private db: string, public readonly name = "x", plain: number) {}
  find(private_: string) {}
}
""",
        """
        1-4 class Other
        2-2 method Other.load
        3-3 method Other.keep
        5-8 class Repo
        6-6 method Repo.constructor
        6-6 property Repo.db
        6-6 property Repo.name
        7-7 method Repo.find
        """,
    ),
    "b.go": (
        r"""package a
func Open() {}
var _ Reader = (*File)(nil)
const (
	_ = iota
	Low
)
""",
        """
        2-2 function Open
        6-6 constant Low
        """,
    ),
    "b.rs": (
        r"""impl<'a, T> Iterator for &'a mut Point<T> { fn next(&mut self) {} }
impl Display for crate::shapes::Circle { fn fmt(&self) {} }
impl<T> Area for [T] { fn area(&self) {} }
""",
        """
        1-1 method Point.next
        2-2 method Circle.fmt
        3-3 method [T].area
        """,
    ),
    "B.java": (
        r"""interface Visitor { int LIMIT = 3; String text = "static final"; }
class Plain { String text = "static final"; }
""",
        """
        1-1 interface Visitor
        1-1 constant Visitor.LIMIT
        1-1 constant Visitor.text
        2-2 class Plain
        2-2 variable Plain.text
        """,
    ),
    "b.hpp": (
        r"""class MY_API Widget final : public Base { void show(); };
struct EXPORT(a, b) Plain { operator bool() const { return true; } };
template <typename T, int N> geo::Vec<T, N>& geo::Vec<T, N>::operator+=(int o) { return *this; }
TEST_F(StackTest, Pops) { CHECK(1); }
BENCHMARK(Sorting) { }
int MAIN(int count) { return 0; }
""",
        """
        1-1 class Widget
        1-1 method Widget.show
        2-2 struct Plain
        2-2 method Plain.operator bool
        3-3 method geo.Vec.operator+=
        4-4 function StackTest.Pops
        5-5 function Sorting
        6-6 function MAIN
        """,
    ),
    "b.rb": (
        r"""class Store
  Point = Struct.new(:x) do
    def dist; end
  end
  attr_reader "text", :sign
  alias_method :old, :fresh
  define_method("made") { |x| x }
end
""",
        """
        1-8 class Store
        2-4 constant Store.Point
        3-3 method Store.Point.dist
        5-5 property Store.text
        5-5 property Store.sign
        6-6 method Store.old
        7-7 method Store.made
        """,
    ),
    "b.php": (
        r"""<?php
function early() {}
function second() {}
class User {
  public function __construct(private DB $db, int $plain, protected readonly string $name) {}
  function other($x) {}
}
""",
        """
        2-2 function early
        3-3 function second
        4-7 class User
        5-5 method User.__construct
        5-5 property User.db
        5-5 property User.name
        6-6 method User.other
        """,
    ),
    "b.html": (
        r"""<script src="a.js"></script><p id="first"></p>
<script type="module">
function start() { return "<p id='none'>"; }
class Page {}
</script><p id="second"></p>
<script>one()</script><p id="third"></p>
""",
        """
        1-1 id first
        3-3 function start
        4-4 class Page
        5-5 id second
        6-6 id third
        """,
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_a_file_gives_its_definitions(path: str) -> None:
    text, expected = CASES[path]
    facts = extracted(path, text)
    found = [
        f"{each.line}-{each.last} {each.kind} {each.container}{'.' * bool(each.container)}{each.name}"
        for each in facts.symbols
    ]
    assert found == [line.strip() for line in expected.strip().split("\n")]
    assert facts.errors == 0


IN_PIECES = {
    "a.py": "X a b lower Alias y field CONST",
    "a.js": "secret LIMIT",
    "b.js": "",
    "a.ts": "x move Red Green m f A.B c area size x over VERSION",
    "a.go": "A B one two Serve",
    "a.rs": "inner A B N area Out X Y T",
    "A.java": "MAX x y RED GREEN value",
    "a.c": "MAX SIZE callback RED GREEN counter pointer fp names f ext",
    "a.cpp": "a::b Stack size operator== A B value_type lambda",
    "a.cs": "A.B Max x y Done X Y Del",
    "b.cs": "A.B One Two",
    "a.rb": "LIMIT name age old Point",
    "a.php": "App\\Http LIMIT x A name other id Hearts",
    "a.css": "--main",
    "a.json": "",
    "a.sh": "PATH_X NAME LIMIT",
    "a.html": "main my-element other",
    "a.md": "",
    "a.rst": "",
    "b.py": "first second rest third fourth x y Pairs",
    "b.ts": "db name",
    "b.go": "Low",
    "b.rs": "",
    "B.java": "LIMIT text text",
    "b.hpp": "show",
    "b.rb": "Point text sign old made",
    "b.php": "db name",
    "b.html": "first start Page second third",
}
"""What is no piece of its own: variables, constants, what is only declared, and what only gives its name to others."""


@pytest.mark.parametrize("path", CASES)
def test_what_has_a_body_of_its_own_can_be_a_piece_and_nothing_else(path: str) -> None:
    text, _ = CASES[path]
    found, _ = _definitions(path, language_of(path, ""), text, text.split("\n"), text.encode(), None)
    assert " ".join(each.name for each in found if not each.block) == IN_PIECES[path]


@pytest.mark.parametrize("path", CASES)
def test_half_a_file_gives_what_it_has(path: str) -> None:
    text, _ = CASES[path]
    whole = {each.name for each in extracted(path, text).symbols}
    half = {each.name for each in extracted(path, text[: len(text) // 2]).symbols}
    assert len(half & whole) * 4 >= len(whole)
