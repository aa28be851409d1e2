# A stand-in for plotly, whose figures have these methods.
import os
os.makedirs('plotly', exist_ok=True)
open('plotly/__init__.py', 'w').close()
with open('plotly/basedatatypes.py', 'w') as f:
    f.write("""
class BaseFigure:
    def to_json(self, validate=True): return '{"data": [], "layout": {}}'
    def show(self, *args, **kw): raise ValueError('Mime type rendering requires nbformat')
    def _repr_mimebundle_(self, *args, **kw): return {}
    def _ipython_display_(self): print(repr(self))
    def __repr__(self): return 'Figure()'
""")
from plotly.basedatatypes import BaseFigure
fig = BaseFigure()
fig.show()
